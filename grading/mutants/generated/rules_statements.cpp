#include <fmt/format.h>

#include <algorithm>

#include "grading/mutants/generated/rules.h"

namespace lab::grading::generated {
namespace {

using Kind = Statement::Kind;

std::string source_of(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  return region.text.source(one.begin, one.end);
}

std::string line_of(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  return region.text.line_of(one.begin, one.end);
}

Edit instead(std::size_t statement, const std::string& text) {
  return {Edit::Place::kInstead, statement, -1, text, false};
}

bool is_guard(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  return one.kind != Kind::kBlock && region.is_guard(one.begin) && region.text.at(one.begin) != "throw";
}

bool holds_return(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  for (std::size_t i = one.begin; i < one.end; ++i) {
    if (region.text.is(i, "return")) return true;
  }
  return false;
}

/// Whether the statement can be left out or moved: no declaration, and no function ends without it.
bool may_go(const Region& region, std::size_t statement) {
  const Kind kind = region.statements[statement].kind;
  if (kind == Kind::kDeclaration || kind == Kind::kLabel || kind == Kind::kOther || kind == Kind::kBlock) return false;
  if (is_guard(region, statement)) return false;
  return !(region.ends_function(statement) && holds_return(region, statement));
}

/// Statements of one list that follow each other.
std::vector<std::pair<std::size_t, std::size_t>> neighbours(const Region& region) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < region.statements.size(); ++i) {
    if (!region.statements[i].listed) continue;
    const std::vector<std::size_t> list = region.list_of(i);
    const auto next = std::upper_bound(list.begin(), list.end(), i);
    if (next != list.end()) pairs.emplace_back(i, *next);
  }
  return pairs;
}

bool is_wait(const Region& region, std::size_t statement) {
  const std::string line = line_of(region, statement);
  return line.find("wait()") != std::string::npos;
}

bool posts_message(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  for (std::size_t i = one.begin; i + 1 < one.end; ++i) {
    const std::string_view name = region.text.at(i);
    const bool known = name == "isend" || name == "irecv" || name == "send" || name == "recv" || name == "pass_on" ||
                       name == "pass_on_unless_last" || name == "receive";
    if (known && region.text.is(i + 1, "(")) return true;
  }
  return false;
}

/// Whether it is an assignment, which changes nothing the second time.
bool assigns(const Region& region, std::size_t statement) {
  const Statement& one = region.statements[statement];
  if (one.kind != Kind::kExpression) return false;
  const std::size_t left = operand_end(region.text, one.begin);
  if (!region.text.is(left, "=")) return false;
  for (std::size_t i = left; i < one.end; ++i) {  // unless what it assigns does something
    if (region.text.is(i, "(")) return false;
  }
  return true;
}

/// Whether both mention a variable, without which their order is of no importance.
bool share_variable(const Region& region, std::size_t a, std::size_t b) {
  std::vector<std::string> names;
  for (std::size_t i = region.statements[a].begin; i < region.statements[a].end; ++i) {
    if (is_variable(region.text, i) || (region.text[i].is_name() && region.text.is(i + 1, ".")))
      names.emplace_back(region.text.at(i));
  }
  return region.mentions(b, names);
}

std::string shortened(const std::string& line) {
  constexpr std::size_t kMost = 100;
  return line.size() <= kMost ? line : line.substr(0, kMost - 3) + "...";
}

}  // namespace

std::vector<Proposal> dropped_statements(const Region& region) {
  std::vector<Proposal> proposals;
  for (std::size_t i = 0; i < region.statements.size(); ++i) {
    const Statement& one = region.statements[i];
    if (!may_go(region, i)) continue;
    // A loop or an if around a single statement: leaving out that is the same.
    const auto inside = std::count_if(region.statements.begin(), region.statements.end(), [&](const Statement& other) {
      return other.begin > one.begin && other.end <= one.end && other.kind != Kind::kBlock;
    });
    if (!one.is_simple() && inside < 2) continue;
    proposals.push_back({one.begin, fmt::format("without: {}", shortened(line_of(region, i))), {instead(i, "")}});
  }
  return proposals;
}

std::vector<Proposal> doubled_statements(const Region& region) {
  std::vector<Proposal> proposals;
  for (std::size_t i = 0; i < region.statements.size(); ++i) {
    const Statement& one = region.statements[i];
    const bool once_is_enough =
        one.kind == Kind::kReturn || one.kind == Kind::kJump || one.kind == Kind::kIf || assigns(region, i);
    if (!may_go(region, i) || once_is_enough) continue;
    const std::string text = source_of(region, i);
    proposals.push_back(
        {one.begin, fmt::format("twice: {}", shortened(line_of(region, i))), {instead(i, text + "\n" + text)}});
  }
  return proposals;
}

std::vector<Proposal> swapped_statements(const Region& region) {
  std::vector<Proposal> proposals;
  for (const auto& [first, second] : neighbours(region)) {
    const Statement &one = region.statements[first], &two = region.statements[second];
    const bool ends =
        one.kind == Kind::kReturn || one.kind == Kind::kJump || two.kind == Kind::kReturn || two.kind == Kind::kJump;
    if (ends || is_guard(region, first) || is_guard(region, second) || !share_variable(region, first, second)) continue;
    const std::string what = fmt::format("before it: {}", shortened(line_of(region, second)));
    if (may_go(region, first) && may_go(region, second)) {
      proposals.push_back(
          {one.begin, what, {instead(first, source_of(region, second)), instead(second, source_of(region, first))}});
    } else if (one.kind == Kind::kDeclaration && may_go(region, second) && !region.mentions(second, one.names)) {
      proposals.push_back({one.begin,
                           what,
                           {{Edit::Place::kBefore, first, -1, source_of(region, second), false}, instead(second, "")}});
    } else if (two.kind == Kind::kDeclaration && may_go(region, first) && !region.mentions(first, two.names)) {
      proposals.push_back(
          {one.begin, what, {instead(first, ""), {Edit::Place::kAfter, second, -1, source_of(region, first), false}}});
    }
  }
  return proposals;
}

std::vector<Proposal> late_messages(const Region& region) {
  std::vector<Proposal> proposals;
  for (std::size_t i = 0; i < region.statements.size(); ++i) {
    const Statement& one = region.statements[i];
    if (!one.listed || !posts_message(region, i) || one.kind == Kind::kReturn) continue;
    const std::vector<std::size_t> list = region.list_of(i);
    // After the last statement that may come before it: none that ends the block, nor uses what it declares.
    std::size_t last = i;
    for (auto next = std::upper_bound(list.begin(), list.end(), i); next != list.end(); ++next) {
      const Kind kind = region.statements[*next].kind;
      const bool posts_only = posts_message(region, *next) && kind != Kind::kDeclaration;
      if (kind == Kind::kReturn || kind == Kind::kJump || region.mentions(*next, one.names)) break;
      if (is_wait(region, *next) && !posts_only && one.names.empty()) break;
      last = *next;
    }
    if (last == i) continue;
    const std::string what = fmt::format("only after line {}: {}", region.text[region.statements[last].begin].line,
                                         shortened(line_of(region, i)));
    if (may_go(region, i)) {
      proposals.push_back(
          {one.begin, what, {instead(i, ""), {Edit::Place::kAfter, last, -1, source_of(region, i), false}}});
    } else if (one.kind == Kind::kDeclaration && one.names.size() == 1 && one.slots.size() == 1 &&
               one.slots[0].kind == Slot::Kind::kInitializer && one.type != "auto" && !one.is_reference) {
      const std::string value = region.text.source(one.slots[0].begin, one.slots[0].end);
      proposals.push_back({one.begin,
                           what,
                           {{Edit::Place::kInstead, i, 0, one.type + "{}", true},
                            {Edit::Place::kAfter, last, -1, one.names[0] + " = " + value + ";", false}}});
    }
  }
  return proposals;
}

std::vector<Proposal> early_waits(const Region& region) {
  std::vector<Proposal> proposals;
  const TokenizedText& text = region.text;
  for (std::size_t i = 0; i < region.statements.size(); ++i) {
    const Statement& one = region.statements[i];
    if (one.kind != Kind::kExpression || !posts_message(region, i)) continue;
    // list.push_back(message): list.push_back(message); list.back().wait() would wait for it twice.
    for (std::size_t token = one.begin; token + 1 < one.end; ++token) {
      if (!text.is(token, "push_back") || !text.is(token + 1, "(")) continue;
      const std::string message = text.source(token + 2, text[token + 1].partner);
      proposals.push_back({one.begin,
                           fmt::format("waits at once: {}", shortened(message)),
                           {instead(i, fmt::format("({}).wait();", message))}});
    }
  }
  return proposals;
}

}  // namespace lab::grading::generated
