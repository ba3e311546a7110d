#include "grading/tokens/namespace_names.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/base/text.h"
#include "grading/tokens/tokens.h"

namespace lab::grading {
namespace {

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

/// What a line includes, with its quotes or brackets. Nothing: it does something else.
std::optional<std::string> included(std::string_view line) {
  line = trimmed(line.substr(1));  // without '#'
  constexpr std::string_view kInclude = "include";
  if (line.substr(0, kInclude.size()) != kInclude) return std::nullopt;
  line = trimmed(line.substr(kInclude.size()));
  if (line.size() < 3) return std::nullopt;
  const char close = line.front() == '<' ? '>' : line.front() == '"' ? '"' : '\0';
  const std::size_t end = line.find(close, 1);
  if (close == '\0' || end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trimmed(line.substr(end + 1));
  if (!rest.empty() && rest.substr(0, 2) != "//") return std::nullopt;
  return std::string(line.substr(0, end));
}

/// Fills in the includes, and whether there are only such lines, none of which a backslash continues.
void read_includes(const std::string& text, NamespaceNames& names) {
  for (const std::string& whole : list_lines(text)) {
    const std::string_view line = trimmed(whole);
    if (!line.empty() && line.back() == '\\') names.is_complete = false;
    if (line.empty() || line.front() != '#' || line == "#pragma once") continue;
    const std::optional<std::string> file = included(line);
    if (!file) {
      names.is_complete = false;
    } else {
      (file->front() == '<' ? names.system_includes : names.includes).push_back(file->substr(1));
    }
  }
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> those) {
  return std::find(those.begin(), those.end(), text) != those.end();
}

/// Words of the language that may stand where a declared name does.
bool is_keyword(std::string_view name) {
  return is_one_of(name, {"int",   "long",  "short",    "char",     "bool",         "float",    "double", "void",
                          "auto",  "const", "unsigned", "signed",   "final",        "override", "struct", "class",
                          "union", "enum",  "noexcept", "decltype", "default",      "delete",   "sizeof", "alignas",
                          "true",  "false", "nullptr",  "this",     "static_assert"});
}

/// Walks the tokens that stand in namespaces, not in functions, classes or brackets.
class NamespaceReader {
 public:
  NamespaceReader(const TokenizedText& text, NamespaceNames& names) : text_(text), names_(names) {}

  void read() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!is_plain(i)) names_.is_complete = false;
      if (text_[i].is_name()) names_.used.emplace(text_.at(i));
    }
    read(0, text_.size());
  }

 private:
  bool is(std::size_t i, std::string_view token) const { return text_.is(i, token); }

  bool is_plain(std::size_t i) const {
    const std::string_view token = text_.at(i);
    if (text_[i].kind != Token::Kind::kMark) return !is_one_of(token, {"_Pragma", "__extension__", "__attribute__"});
    const bool touches = i + 1 < text_.size() && text_[i].end == text_[i + 1].begin;
    const std::string_view next = touches ? text_.at(i + 1) : std::string_view();
    const bool is_digraph = (token == "%" && (next == ":" || next == ">")) || (token == "<" && next == "%") ||
                            ((token == "<" || token == ":") && (next == ":" || next == ">"));
    return static_cast<unsigned char>(token.front()) < 0x80 && !is_one_of(token, {"#", "\\", "@", "`", "$"}) &&
           !is_digraph;
  }

  void read(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_listed(i)) names_.is_complete = false;
      if (is(i, "namespace")) {
        const std::size_t open = opening_brace(i, end);
        if (open == end) {  // an alias
          names_.declared.emplace(text_.at(i + 1), "");
          continue;
        }
        read(open + 1, text_[open].partner);
        i = text_[open].partner;
      } else if (is(i, "using")) {
        read_using(i);
      } else if (is(i, ")") && is(i + 1, ":")) {
        i = end_of_initializers(i + 2);
      } else if (is_one_of(text_.at(i), {"(", "[", "{"})) {
        i = text_[i].partner - (is(text_[i].partner + 1, ":") && is(i, "(") ? 1 : 0);  // ": a_(a), b_(b) {}"
      } else if (may_declare(i)) {
        names_.declared.emplace(text_.at(i), "");
      }
    }
  }

  /// False: no list of names tells what this does.
  bool is_listed(std::size_t i) const {
    if (is_one_of(text_.at(i), {"operator", "extern", "typedef"})) return false;
    if (is(i, "using") && is(i + 1, "namespace")) return false;
    if (is(i, "enum") && !is(i + 1, "class") && !is(i + 1, "struct")) return false;
    if (is(i, "union") && is(i + 1, "{")) return false;
    // A specialization, or an instantiation.
    if (is(i, "template") && (!is(i + 1, "<") || is(i + 2, ">"))) return false;
    // A declared name may be inside the brackets.
    if (is(i, "(") && is_one_of(text_.at(i + 1), {"*", "&", "&&"})) return false;
    return !(is(i, "[") && i > 0 && is_one_of(text_.at(i - 1), {"auto", "&", "&&"}));
  }

  /// Of "namespace a::b {" or "namespace {"; `end` if it is an alias.
  std::size_t opening_brace(std::size_t i, std::size_t end) const {
    while (i < end && !is(i, "{") && !is(i, "=") && !is(i, ";")) ++i;
    return i < end && is(i, "{") ? i : end;
  }

  /// "using a::b;" declares b; "using b = ...;" is like any declaration.
  void read_using(std::size_t using_token) {
    std::size_t begin = using_token + 1;
    for (std::size_t i = begin; i < text_.size() && !is(i, ";") && !is(i, "="); ++i) {
      if (!text_[i].is_name() || !is_one_of(text_.at(i + 1), {";", ","})) continue;
      names_.declared.emplace(text_.at(i), text_.make_line(begin, i + 1));
      begin = i + 2;
    }
  }

  /// The last token of a constructor's initializers and body; `i` is the first of its initializers.
  std::size_t end_of_initializers(std::size_t i) const {
    while (i < text_.size()) {
      while (i < text_.size() && !is(i, "(") && !is(i, "{")) ++i;
      if (i >= text_.size()) break;
      const std::size_t close = text_[i].partner;
      if (!is(close + 1, ",")) return is(close + 1, "{") ? text_[close + 1].partner : close;
      i = close + 2;
    }
    return text_.size();
  }

  /// A name that is followed by what follows a declared name, and is not the member of something.
  bool may_declare(std::size_t i) const {
    if (!text_[i].is_name() || (i > 0 && is(i - 1, "::")) || is_keyword(text_.at(i))) return false;
    return is_one_of(text_.at(i + 1), {"(", "=", ";", "{", "[", ",", ":", "final"});
  }

  const TokenizedText& text_;
  NamespaceNames& names_;
};

}  // namespace

NamespaceNames namespace_names(const std::string& text) {
  NamespaceNames names;
  read_includes(text, names);
  const TokenizedText tokens(text);
  NamespaceReader(tokens, names).read();
  return names;
}

}  // namespace lab::grading
