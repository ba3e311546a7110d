#include "grading/mutants/generated/region.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/text.h"

namespace lab::grading::generated {
namespace {

using Kind = Statement::Kind;

/// Where lines that hold a marker are: bytes after a BEGIN line to before its END line.
struct Marked {
  std::string task;
  std::size_t begin = 0, end = 0;
};

std::vector<Marked> marked_parts(const std::string& text) {
  constexpr std::string_view kBegin = "// BEGIN SOLUTION ", kEnd = "// END SOLUTION ";
  std::vector<Marked> parts;
  std::size_t at = 0;
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find(kBegin), end = line.find(kEnd);
    if (begin != std::string::npos)
      parts.push_back({one_line(line.substr(begin + kBegin.size())), at + line.size(), text.size()});
    if (end != std::string::npos && !parts.empty()) parts.back().end = at;
    at += line.size();
  }
  return parts;
}

bool is_keyword_of_control(std::string_view name) {
  return name == "if" || name == "for" || name == "while" || name == "switch" || name == "catch";
}

/// The ( of the parameters of the function whose body begins at the token; 0: none does.
std::size_t parameters_of_body(const TokenizedText& text, std::size_t token) {
  if (!text.is(token, "{") || token == 0) return 0;
  std::size_t close = token - 1;
  while (close > 0 && (text.is(close, "const") || text.is(close, "override") || text.is(close, "noexcept"))) --close;
  if (!text.is(close, ")")) return 0;
  const std::size_t open = text[close].partner;
  return open > 0 && !is_keyword_of_control(text.at(open - 1)) ? open : 0;
}

/// The ( of the parameters of the function whose body holds a token, and the body's {; 0, 0: not in a function.
std::pair<std::size_t, std::size_t> function_around(const TokenizedText& text, std::size_t token) {
  for (std::size_t i = token; i-- > 0;) {
    if (text.is(i, ")") || text.is(i, "]") || text.is(i, "}")) {
      i = text[i].partner;
    } else if (const std::size_t parameters = parameters_of_body(text, i); parameters != 0) {
      return {parameters, i};
    }
  }
  return {0, 0};
}

/// The { of the bodies of the functions among tokens [begin, end), which are in no function.
std::vector<std::size_t> bodies_of(const TokenizedText& text, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> bodies;
  for (std::size_t i = begin; i < end; ++i) {
    if (!text.is(i, "{")) continue;
    if (parameters_of_body(text, i) != 0) bodies.push_back(i);
    i = text[i].partner;
  }
  return bodies;
}

void add_parameters(const TokenizedText& text, std::size_t open, std::vector<Declared>& declared) {
  for (const auto& [begin, end] : split_at_commas(text, open + 1, text[open].partner)) {
    if (end < begin + 2 || !text[end - 1].is_name()) continue;
    std::size_t first = begin, last = end - 1;
    while (text.is(first, "const")) ++first;
    while (last > first && (text.is(last - 1, "&") || text.is(last - 1, "*") || text.is(last - 1, "&&"))) --last;
    declared.push_back({std::string(text.at(end - 1)), text.line_of(first, last), end - 1});
  }
}

void add_declared(const TokenizedText& text, const std::vector<Statement>& statements,
                  std::vector<Declared>& declared) {
  for (const Statement& one : statements) {
    for (const std::string& name : one.names) declared.push_back({name, one.type, one.begin});
    // Parameters of lambdas.
    for (std::size_t i = one.begin; i + 1 < one.end; ++i) {
      if (text.is(i, "]") && text.is(i + 1, "(") && i > 0) add_parameters(text, i + 1, declared);
    }
  }
}

/// The part of a region that is tokens [begin, end): a list of statements.
Region region_of(const TokenizedText& text, const std::string& task, std::size_t begin, std::size_t end) {
  Region region{text, task, begin, end, {}, {}};
  region.statements = statements_of(text, region.begin, region.end);
  const auto [parameters, body] = function_around(text, region.begin);
  if (body != 0) {
    add_parameters(text, parameters, region.declared);
    try {
      add_declared(text, statements_of(text, body + 1, region.begin), region.declared);
    } catch (const UsageError&) {
      // It begins inside of a statement: what is declared before that stays unknown.
    }
  }
  add_declared(text, region.statements, region.declared);
  return region;
}

void add_regions(const TokenizedText& text, const Marked& part, std::vector<Region>& regions) {
  const auto token_at = [&](std::size_t byte) {
    const auto found = std::find_if(text.tokens().begin(), text.tokens().end(),
                                    [&](const Token& token) { return token.begin >= byte; });
    return static_cast<std::size_t>(found - text.tokens().begin());
  };
  const std::size_t begin = token_at(part.begin), end = token_at(part.end);
  if (function_around(text, begin).second != 0) {
    regions.push_back(region_of(text, part.task, begin, end));
    return;
  }
  for (const std::size_t body : bodies_of(text, begin, end))
    regions.push_back(region_of(text, part.task, body + 1, text[body].partner));
}

bool is_unary(const TokenizedText& text, std::size_t i) {
  if (!(text.is(i, "-") || text.is(i, "!") || text.is(i, "~") || text.is(i, "*") || text.is(i, "&") ||
        text.is(i, "++") || text.is(i, "--")))
    return false;
  return !text[i].spaced;
}

}  // namespace

std::optional<std::size_t> Region::statement_at(std::size_t first, std::size_t last) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].begin <= first && last <= statements[i].end) found = i;  // those inside come later
  }
  return found;
}

std::optional<Edit> Region::replaced(std::size_t first, std::size_t last, const std::string& with) const {
  const std::optional<std::size_t> index = statement_at(first, last);
  if (!index) return std::nullopt;
  const Statement& one = statements[*index];
  Edit edit;
  edit.statement = *index;
  std::size_t from = one.begin, to = one.end;
  if (one.kind != Kind::kExpression && one.kind != Kind::kReturn) {
    const auto slot = std::find_if(one.slots.begin(), one.slots.end(),
                                   [&](const Slot& each) { return each.begin <= first && last <= each.end; });
    if (slot == one.slots.end()) return std::nullopt;
    edit.slot = static_cast<int>(slot - one.slots.begin());
    from = slot->begin;
    to = slot->end;
  }
  if (first == last) return std::nullopt;
  const std::string& all = text.text();
  edit.text = all.substr(text[from].begin, text[first].begin - text[from].begin) + with +
              all.substr(text[last - 1].end, text[to - 1].end - text[last - 1].end);
  return edit;
}

std::vector<std::size_t> Region::list_of(std::size_t statement) const {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].block == statements[statement].block) list.push_back(i);
  }
  return list;
}

bool Region::ends_function(std::size_t statement) const {
  for (std::size_t at = statement;;) {
    if (list_of(at).back() != at) return false;
    const int parent = statements[at].parent;
    if (parent < 0) return true;
    const Kind kind = statements[static_cast<std::size_t>(parent)].kind;
    if (kind == Kind::kExpression || kind == Kind::kDeclaration || kind == Kind::kReturn) return true;  // a lambda
    if (kind == Kind::kFor || kind == Kind::kRangeFor || kind == Kind::kWhile) return false;
    at = static_cast<std::size_t>(parent);
  }
}

bool Region::mentions(std::size_t statement, const std::vector<std::string>& names) const {
  for (std::size_t i = statements[statement].begin; i < statements[statement].end; ++i) {
    if (text[i].is_name() && std::find(names.begin(), names.end(), text.at(i)) != names.end()) return true;
  }
  return false;
}

bool Region::is_guard(std::size_t token) const {
  for (const Statement& one : statements) {
    if (token < one.begin || token >= one.end) continue;
    const std::string_view first = text.at(one.begin);
    if (first == "throw" || first == "check" || text.is(one.begin, "(")) return true;
  }
  return false;
}

std::string Region::type_of(std::string_view name, std::size_t token) const {
  std::string type;
  std::size_t nearest = 0;
  for (const Declared& one : declared) {
    if (one.name != name || one.token > token || one.token < nearest) continue;
    nearest = one.token;
    type = one.type;
  }
  return type;
}

std::vector<Region> regions_of(const TokenizedText& text, const std::set<std::string>& tasks) {
  std::vector<Region> regions;
  for (const Marked& part : marked_parts(text.text())) {
    if (tasks.count(part.task) != 0) add_regions(text, part, regions);
  }
  return regions;
}

std::size_t operand_end(const TokenizedText& text, std::size_t begin) {
  std::size_t i = begin;
  while (is_unary(text, i)) ++i;
  if (text.is(i, "(") || text.is(i, "{")) {
    i = text[i].partner + 1;
  } else {
    ++i;
  }
  for (;;) {
    const std::size_t after = after_template(text, i);
    const bool adjacent = i < text.size() && text[i].begin == text[i - 1].end;
    if (after != i) {
      i = after;
    } else if (text.is(i, "::") || text.is(i, ".") || text.is(i, "->")) {
      i += 2;
    } else if (adjacent && (text.is(i, "(") || text.is(i, "[") || text.is(i, "{"))) {
      i = text[i].partner + 1;
    } else if (adjacent && (text.is(i, "++") || text.is(i, "--"))) {
      ++i;
    } else {
      return i;
    }
  }
}

std::size_t operand_begin(const TokenizedText& text, std::size_t last) {
  std::size_t i = last;
  for (;;) {
    const auto joined = [&](std::size_t at) { return at > 0 && text[at - 1].end == text[at].begin; };
    if (text.is(i, ")") || text.is(i, "]") || text.is(i, "}")) {
      i = text[i].partner;
      const bool called =
          joined(i) && (text[i - 1].is_name() || text.is(i - 1, ">") || text.is(i - 1, ")") || text.is(i - 1, "]"));
      if (!called) break;
      --i;
    } else if (text.is(i, ">")) {
      int depth = 1;
      while (i > 0 && depth > 0) {
        --i;
        depth += text.is(i, ">") ? 1 : text.is(i, "<") ? -1 : 0;
      }
      if (i > 0) --i;
    } else if (i > 1 && (text.is(i - 1, ".") || text.is(i - 1, "->") || text.is(i - 1, "::"))) {
      i -= 2;
    } else {
      break;
    }
  }
  while (i > 0 && is_unary(text, i - 1) && text[i - 1].end == text[i].begin) {
    const bool infix =
        i > 1 && (text[i - 2].is_name() || text.is(i - 2, ")") || text.is(i - 2, "]")) && !text.is(i - 2, "return");
    if (infix) break;
    --i;
  }
  return i;
}

bool is_binary(const TokenizedText& text, std::size_t i) {
  constexpr std::string_view kOperators[] = {
      "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^"};
  return text[i].spaced && std::find(std::begin(kOperators), std::end(kOperators), text.at(i)) != std::end(kOperators);
}

bool is_variable(const TokenizedText& text, std::size_t i) {
  if (!text[i].is_name()) return false;
  if (i > 0 && (text.is(i - 1, ".") || text.is(i - 1, "->") || text.is(i - 1, "::"))) return false;
  return !text.is(i + 1, "(") && !text.is(i + 1, "::") && !(text.is(i + 1, "{") && !text[i].spaced) &&
         after_template(text, i + 1) == i + 1;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_integer_type(const std::string& type) {
  return type == "int" || type == "std::int64_t" || type == "std::size_t";
}

}  // namespace lab::grading::generated
