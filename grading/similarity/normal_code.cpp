#include "grading/similarity/normal_code.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/checksum.h"
#include "grading/tokens/tokens.h"

namespace lab::grading {
namespace {

using Names = std::set<std::string, std::less<>>;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> those) {
  return std::find(those.begin(), those.end(), text) != those.end();
}

/// Words that say what is done. Those of types are names like any other, so that `int` and `std::int64_t` are the same.
bool is_statement_word(std::string_view name) {
  return is_one_of(name,
                   {"if",      "else",        "for",        "while",     "do",       "switch",   "case",    "default",
                    "break",   "continue",    "return",     "goto",      "try",      "catch",    "throw",   "new",
                    "delete",  "sizeof",      "using",      "namespace", "template", "typename", "struct",  "class",
                    "enum",    "union",       "operator",   "public",    "private",  "this",     "true",    "false",
                    "nullptr", "static_cast", "const_cast", "and",       "or",       "not",      "co_await"});
}

bool is_left_out(std::string_view token) {
  return is_one_of(token, {"{", "}", "const", "constexpr", "static", "inline", "noexcept", "override", "final"});
}

/// What the files declare, as far as a name tells that is followed by a bracket.
struct Declared {
  Names functions;
  Names variables;  ///< which may be called, too: lambdas, objects that are made with arguments
};

void add_declared(const TokenizedText& text, Declared& declared) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (!text[i].is_name() || is_statement_word(text.at(i))) continue;
    const std::string_view before = text.at(i - 1), after = text.at(i + 1);
    const bool follows_type =
        (text[i - 1].is_name() && !is_statement_word(before)) || is_one_of(before, {">", "&", "*", "&&"});
    if (after == "(") {
      const std::string_view beyond = text.at(text[i + 1].partner + 1);
      const bool has_body = is_one_of(beyond, {"{", "const", "noexcept", "override"});
      if (has_body && (follows_type || before == "::")) {
        declared.functions.emplace(text.at(i));
      } else if (text[i - 1].is_name() && follows_type) {
        declared.variables.emplace(text.at(i));
      }
    } else if (follows_type && is_one_of(after, {"=", ",", ")", ";"})) {
      declared.variables.emplace(text.at(i));
    }
  }
}

/// What is compared of a token in place of its characters. A name that was chosen by who wrote it is "name".
std::string_view compared_as(const TokenizedText& text, std::size_t i, const Declared& declared) {
  const std::string_view token = text.at(i);
  if (text[i].kind == Token::Kind::kString) return "string";
  if (!text[i].is_name() || is_statement_word(token)) return token;
  const std::string_view before = i == 0 ? std::string_view() : text.at(i - 1);
  const bool is_member = is_one_of(before, {".", "->", "::"});
  // Of a class or an enumeration, not a namespace: PipelineOperation::kSendForward.
  if (before == "::" && i > 1 && std::isupper(static_cast<unsigned char>(text.at(i - 2).front())) != 0) return token;
  if (!text.is(i + 1, "(") || declared.functions.count(token) != 0) return "name";
  return is_member || declared.variables.count(token) == 0 ? token : "name";
}

/// Of a constant as this code base names it: kMany.
bool is_constant_name(std::string_view name) {
  return name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])) != 0;
}

/// Whether the brace at i opens rows of constants, {{2, kMany, "ring"}, {4, 3 * kMany, "direct"}}.
bool opens_table(const TokenizedText& text, std::size_t i) {
  if (!text.is(i, "{") || !text.is(i + 1, "{")) return false;
  const std::size_t end = text[i].partner;
  for (std::size_t inside = i + 1; inside < end; ++inside) {
    const Token& token = text[inside];
    const bool is_constant = token.is_name() ? is_constant_name(text.at(inside)) : token.kind != Token::Kind::kMark;
    if (!is_constant && !is_one_of(text.at(inside), {"{", "}", ",", "*", "+", "-", "<<"})) return false;
  }
  return true;
}

NormalFile normal_file(const std::string& name, const TokenizedText& text, const Declared& declared) {
  NormalFile file = {name, text.text(), {}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (opens_table(text, i)) i = text[i].partner;
    const bool is_qualifier = text.is(i, "::") || (text[i].is_name() && text.is(i + 1, "::"));
    if (is_qualifier || is_left_out(text.at(i))) continue;
    file.tokens.push_back({checksum_of(compared_as(text, i, declared)), text[i].begin, text[i].end, text[i].line});
  }
  return file;
}

}  // namespace

std::vector<NormalFile> normal_code(const std::map<std::string, std::string>& files) {
  std::vector<std::pair<std::string, TokenizedText>> texts;
  Declared declared;
  for (const auto& [name, text] : files) {
    texts.emplace_back(name, TokenizedText(text, Unfinished::kTaken));
    add_declared(texts.back().second, declared);
  }
  std::vector<NormalFile> normal;
  for (const auto& [name, text] : texts) normal.push_back(normal_file(name, text, declared));
  return normal;
}

}  // namespace lab::grading
