#include "grading/mutants/generated/statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"

namespace lab::grading::generated {
namespace {

using Kind = Statement::Kind;

bool opens(const TokenizedText& text, std::size_t i) {
  return text.is(i, "(") || text.is(i, "[") || text.is(i, "{");
}

/// What a declaration begins with, if a statement is one.
struct DeclaredType {
  std::string type;
  bool is_reference = false;
  std::size_t name = 0;  ///< token of the first name that is declared
};

class Parser {
 public:
  Parser(const TokenizedText& text, std::vector<Statement>& all) : text_(text), all_(all) {}

  void list(std::size_t begin, std::size_t end, int parent) {
    const int block = next_block_++;
    while (begin < end) begin = statement(begin, end, {parent, block, true});
  }

 private:
  struct Place {
    int parent, block;
    bool listed;
  };

  [[noreturn]] void refuse(std::size_t at, const char* what) const {
    throw UsageError(fmt::format("line {}: {}", text_[std::min(at, text_.size() - 1)].line, what));
  }

  std::size_t number_of(const Statement& added) {
    all_.push_back(added);
    return all_.size() - 1;
  }

  /// First token of these characters in no bracket.
  std::size_t find(std::string_view what, std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (text_.is(i, what)) return i;
      if (opens(text_, i)) i = text_[i].partner;
    }
    return end;
  }

  /// Adds the statement that begins at a token, and returns the token after it.
  std::size_t statement(std::size_t begin, std::size_t end, Place place) {
    Statement one;
    one.begin = begin;
    one.parent = place.parent;
    one.block = place.block;
    one.listed = place.listed;
    const std::string_view first = text_.at(begin);
    if (first == "{") {
      one.kind = Kind::kBlock;
      one.end = text_[begin].partner + 1;
      const std::size_t self = number_of(one);
      list(begin + 1, one.end - 1, static_cast<int>(self));
      return one.end;
    }
    if (first == "case" || first == "default") {
      one.kind = Kind::kLabel;
      one.end = find(":", begin, end) + 1;
      number_of(one);
      return one.end;
    }
    if (first == "if" || first == "for" || first == "while" || first == "switch") return controlled(one, end);
    one.end = find(";", begin, end) + 1;
    if (one.end > end) refuse(begin, "a statement without an end");
    if (first == "return") {
      one.kind = Kind::kReturn;
    } else if (first == "break" || first == "continue" || first == "throw") {
      one.kind = Kind::kJump;
    } else if (first == "using" || first == "class" || first == "struct" || first == "static_assert" || first == "do" ||
               first == "try" || first == "goto") {
      one.kind = Kind::kOther;
    } else if (const DeclaredType type = declared_type(begin, one.end); type.name != 0) {
      one.kind = Kind::kDeclaration;
      declare(one, type, one.end - 1);
    } else {
      one.kind = Kind::kExpression;
    }
    const std::size_t self = number_of(one);
    if (one.kind != Kind::kOther) lambdas(one.begin, one.end, static_cast<int>(self));
    return one.end;
  }

  /// if, for, while and switch, with what they hold.
  std::size_t controlled(Statement one, std::size_t end) {
    std::size_t open = one.begin + 1;
    if (text_.is(open, "constexpr")) ++open;
    const std::size_t close = text_[open].partner, body = close + 1;
    const std::string_view first = text_.at(one.begin);
    one.kind = first == "if"       ? Kind::kIf
               : first == "while"  ? Kind::kWhile
               : first == "switch" ? Kind::kSwitch
                                   : Kind::kFor;
    if (one.kind == Kind::kFor) {
      for_header(one, open + 1, close);
    } else if (one.kind != Kind::kSwitch) {
      const std::size_t semicolon = find(";", open + 1, close);
      one.slots.push_back({Slot::Kind::kCondition, semicolon == close ? open + 1 : semicolon + 1, close});
    }
    const std::size_t self = number_of(one);
    lambdas(open + 1, close, static_cast<int>(self));
    std::size_t after = body_of(body, end, static_cast<int>(self));
    if (one.kind == Kind::kIf && text_.is(after, "else")) after = body_of(after + 1, end, static_cast<int>(self));
    all_[self].end = after;
    return after;
  }

  std::size_t body_of(std::size_t begin, std::size_t end, int parent) {
    return statement(begin, end, {parent, next_block_++, false});
  }

  void for_header(Statement& one, std::size_t begin, std::size_t end) {
    const std::size_t first = find(";", begin, end);
    if (first == end) {
      one.kind = Kind::kRangeFor;
      return;
    }
    const std::size_t second = find(";", first + 1, end);
    if (const DeclaredType type = declared_type(begin, first + 1); type.name != 0) {
      declare(one, type, first);
    } else if (begin < first) {
      one.slots.push_back({Slot::Kind::kIncrement, begin, first});
    }
    if (first + 1 < second) one.slots.push_back({Slot::Kind::kCondition, first + 1, second});
    if (second + 1 < end) one.slots.push_back({Slot::Kind::kIncrement, second + 1, end});
  }

  DeclaredType declared_type(std::size_t begin, std::size_t end) const {
    std::size_t i = begin;
    const auto skip_const = [&] {
      while (text_.is(i, "const") || text_.is(i, "constexpr") || text_.is(i, "static")) ++i;
    };
    skip_const();
    const std::size_t type_begin = i;
    while (i < end && text_[i].is_name()) {
      i = after_template(text_, i + 1);
      if (!text_.is(i, "::")) break;
      ++i;
    }
    DeclaredType found;
    if (i == type_begin) return found;
    found.type = text_.line_of(type_begin, i);
    skip_const();
    for (; text_.is(i, "&") || text_.is(i, "*") || text_.is(i, "&&"); ++i) {
      found.is_reference = true;
      if (text_[i].spaced) return found;  // a product
    }
    const bool ends = text_.is(i + 1, "=") || text_.is(i + 1, ";") || text_.is(i + 1, "(") || text_.is(i + 1, "{") ||
                      text_.is(i + 1, ",");
    if (i + 1 < end && text_[i].is_name() && ends) found.name = i;
    if (i < end && text_.is(i, "[") && found.type == "auto") found.name = i;
    return found;
  }

  /// The declarators up to the semicolon at `end`.
  void declare(Statement& one, const DeclaredType& type, std::size_t end) const {
    one.type = type.type;
    one.is_reference = type.is_reference;
    std::size_t i = type.name;
    while (i < end) {
      while (text_.is(i, "&") || text_.is(i, "*")) ++i;
      const std::size_t after = text_.is(i, "[") ? text_[i].partner + 1 : i + 1;
      one.names.emplace_back(text_.at(i));
      std::size_t next = after;
      if (text_.is(after, "=")) {
        next = split_at_commas(text_, after + 1, end).front().second;
        const bool braces = text_.is(after + 1, "{");
        if (!is_lambda(after + 1)) {
          one.slots.push_back({braces ? Slot::Kind::kBraces : Slot::Kind::kInitializer, after + 1, next});
        }
      } else if (text_.is(after, "(") || text_.is(after, "{")) {
        for (const auto& [begin, close] : split_at_commas(text_, after + 1, text_[after].partner))
          if (!text_.is(begin, "{")) one.slots.push_back({Slot::Kind::kArgument, begin, close});
        next = text_[after].partner + 1;
      }
      i = next + 1;  // after the comma
    }
  }

  bool is_lambda(std::size_t at) const {
    if (!text_.is(at, "[")) return false;
    if (at > 0) {
      const Token& before = text_[at - 1];
      const bool value = (before.is_name() && !text_.is(at - 1, "return")) || text_.is(at - 1, ")") ||
                         text_.is(at - 1, "]") || before.kind == Token::Kind::kString;
      if (value || text_.is(at - 1, "&")) return false;
    }
    const std::size_t after = text_[at].partner + 1;
    return text_.is(after, "(") || text_.is(after, "{");
  }

  /// Adds the statements in the bodies of lambdas among tokens [begin, end).
  void lambdas(std::size_t begin, std::size_t end, int parent) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_lambda(i)) continue;
      std::size_t body = text_[i].partner + 1;
      if (text_.is(body, "(")) body = text_[body].partner + 1;
      while (body < end && !text_.is(body, "{")) ++body;
      if (body == end) continue;
      list(body + 1, text_[body].partner, parent);
      i = text_[body].partner;
    }
  }

  const TokenizedText& text_;
  std::vector<Statement>& all_;
  int next_block_ = 0;
};

}  // namespace

std::size_t after_template(const TokenizedText& text, std::size_t open) {
  if (!text.is(open, "<") || text[open].spaced) return open;
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text.is(i, "<")) {
      ++depth;
    } else if (text.is(i, ">")) {
      if (--depth == 0) return i + 1;
    } else if (text.is(i, "(")) {
      i = text[i].partner;
    } else if (text[i].kind == Token::Kind::kMark && !text.is(i, "::") && !text.is(i, ",") && !text.is(i, "*") &&
               !text.is(i, "&")) {
      return open;
    }
  }
  return open;
}

std::vector<std::pair<std::size_t, std::size_t>> split_at_commas(const TokenizedText& text, std::size_t begin,
                                                                 std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t first = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (const std::size_t after = after_template(text, i); after != i) i = after - 1;
    if (text.is(i, ",")) {
      parts.emplace_back(first, i);
      first = i + 1;
    } else if (opens(text, i)) {
      i = text[i].partner;
    }
  }
  if (first < end) parts.emplace_back(first, end);
  return parts;
}

std::vector<Statement> statements_of(const TokenizedText& text, std::size_t begin, std::size_t end) {
  std::vector<Statement> all;
  Parser(text, all).list(begin, end, -1);
  return all;
}

}  // namespace lab::grading::generated
