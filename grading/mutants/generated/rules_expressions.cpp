#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "grading/mutants/generated/rules.h"

namespace lab::grading::generated {
namespace {

/// An integer literal in decimal; the sign belongs to it if there is one.
struct IntegerLiteral {
  std::size_t begin = 0, end = 0;
  long value = 0;
};

std::optional<IntegerLiteral> integer_at(const TokenizedText& text, std::size_t i) {
  if (text[i].kind != Token::Kind::kNumber) return std::nullopt;
  const std::string digits(text.at(i));
  if (digits.size() > 9 || !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  IntegerLiteral found{i, i + 1, std::stol(digits)};
  const bool negative = i > 0 && text.is(i - 1, "-") && !text[i - 1].spaced && text[i - 1].end == text[i].begin;
  if (negative) {
    --found.begin;
    found.value = -found.value;
  }
  return found;
}

/// The name of the function whose direct argument the tokens are; empty: none.
std::string function_of_argument(const TokenizedText& text, std::size_t begin, std::size_t end) {
  const bool last = text.is(end, ")") || text.is(end, ",") || text.is(end, "}");
  const bool first = begin > 0 && (text.is(begin - 1, "(") || text.is(begin - 1, ",") || text.is(begin - 1, "{"));
  if (!first || !last) return "";
  for (std::size_t i = begin; i-- > 0;) {
    if (text.is(i, ")") || text.is(i, "]") || text.is(i, "}")) {
      i = text[i].partner;
    } else if (text.is(i, "(") && i > 0) {
      return std::string(text.at(i - 1));
    } else if (text.is(i, ";")) {
      return "";
    }
  }
  return "";
}

/// Whether a function takes dimensions.
bool takes_dims(const std::string& function) {
  static const std::vector<std::string> known = {
      "narrow", "chunk",      "cat",     "stack", "select", "transpose", "sum",       "mean",    "softmax",
      "size",   "flatten",    "permute", "amax",  "unbind", "split",     "unsqueeze", "squeeze", "split_with_sizes",
      "shard",  "require_dim"};
  return std::find(known.begin(), known.end(), function) != known.end();
}

bool is_dim(const TokenizedText& text, const IntegerLiteral& literal) {
  return takes_dims(function_of_argument(text, literal.begin, literal.end));
}

}  // namespace

std::vector<Proposal> other_operators(const Region& region) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> others = {
      {"+", {"-"}},       {"-", {"+"}},        {"*", {"/"}},        {"/", {"*"}},        {"%", {"/"}},
      {"<", {"<=", ">"}}, {"<=", {"<", ">"}},  {">", {">=", "<"}},  {">=", {">", "<"}},  {"==", {"!="}},
      {"!=", {"=="}},     {"&&", {"||"}},      {"||", {"&&"}},      {"^", {"|", "&"}},   {"&", {"|"}},
      {"|", {"&"}},       {"+=", {"-=", "="}}, {"-=", {"+=", "="}}, {"*=", {"/=", "="}}, {"/=", {"*=", "="}}};
  std::vector<Proposal> proposals;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    const auto found = others.find(region.text.at(i));
    const bool assigns = found != others.end() && found->first.size() == 2 && found->first[1] == '=' &&
                         std::string("+-*/").find(found->first[0]) != std::string::npos;
    if (found == others.end() || !(assigns || is_binary(region.text, i))) continue;
    for (const std::string& other : found->second) propose(region, proposals, i, i + 1, other);
  }
  // Of one operand.
  for (std::size_t i = region.begin; i < region.end; ++i) {
    const bool sign = region.text.is(i, "!") || region.text.is(i, "~") || region.text.is(i, "-");
    if (sign && !region.text[i].spaced && region.text[i + 1].kind != Token::Kind::kNumber)
      propose(region, proposals, i, i + 1, "");
  }
  return proposals;
}

std::vector<Proposal> dropped_operands(const Region& region) {
  std::vector<Proposal> proposals;
  const TokenizedText& text = region.text;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    if (!is_binary(text, i)) continue;
    const std::string_view mark = text.at(i);
    const bool compares = mark == "<" || mark == ">" || mark == "<=" || mark == ">=" || mark == "==" || mark == "!=";
    if (compares) continue;
    propose(region, proposals, i, operand_end(text, i + 1), "");
    const std::size_t left = operand_begin(text, i - 1);
    if (mark != "/" && mark != "-" && mark != "%") propose(region, proposals, left, i + 1, "");
  }
  return proposals;
}

std::vector<Proposal> other_numbers(const Region& region) {
  std::vector<Proposal> proposals;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    const auto literal = integer_at(region.text, i);
    if (!literal || is_dim(region.text, *literal)) continue;
    propose(region, proposals, literal->begin, literal->end, std::to_string(literal->value + 1));
    propose(region, proposals, literal->begin, literal->end, std::to_string(literal->value - 1));
  }
  return proposals;
}

std::vector<Proposal> other_dims(const Region& region) {
  std::vector<Proposal> proposals;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    const auto literal = integer_at(region.text, i);
    if (!literal || !is_dim(region.text, *literal)) continue;
    const long value = literal->value;
    // Not 1 for -1: of a matrix that is the same dimension.
    const std::vector<long> others = value < 0 ? std::vector<long>{value - 1, value == -1 ? 0 : -1}
                                               : std::vector<long>{value + 1, value == 0 ? 2 : value - 1};
    for (const long other : others) propose(region, proposals, literal->begin, literal->end, std::to_string(other));
  }
  return proposals;
}

std::vector<Proposal> other_conditions(const Region& region) {
  std::vector<Proposal> proposals;
  const auto add = [&](std::size_t begin, std::size_t end, bool endless) {
    propose(region, proposals, begin, end, fmt::format("!({})", region.text.source(begin, end)));
    propose(region, proposals, begin, end, "false");
    if (!endless) propose(region, proposals, begin, end, "true");
  };
  for (const Statement& one : region.statements) {
    for (const Slot& slot : one.slots) {
      const bool loop = one.kind == Statement::Kind::kFor || one.kind == Statement::Kind::kWhile;
      if (slot.kind == Slot::Kind::kCondition) add(slot.begin, slot.end, loop);
    }
  }
  for (std::size_t i = region.begin; i < region.end; ++i) {
    if (region.text.is(i, "true")) propose(region, proposals, i, i + 1, "false");
    if (region.text.is(i, "false")) propose(region, proposals, i, i + 1, "true");
    // condition ? a : b
    if (!region.text.is(i, "?")) continue;
    std::size_t begin = i;
    while (begin > region.begin) {
      const std::size_t operand = operand_begin(region.text, begin - 1);
      begin = operand;
      if (begin == region.begin || !is_binary(region.text, begin - 1)) break;
      --begin;
    }
    propose(region, proposals, begin, i, "true");
    propose(region, proposals, begin, i, "false");
  }
  return proposals;
}

}  // namespace lab::grading::generated
