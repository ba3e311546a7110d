#include "common/report/check_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/report/counted.h"
#include "common/report/log_alignment.h"
#include "common/report/log_lines.h"

namespace lab {
namespace {

/// Why the text as a whole is no log; empty where it may be one.
std::string problem_with_file(std::string_view text) {
  if (text.empty()) return "the log is empty; expected the output of a run";
  const auto line_of = [text](std::size_t at) { return 1 + std::count(text.begin(), text.begin() + at, '\n'); };
  const std::size_t carriage = text.find('\r');
  if (carriage != std::string_view::npos) {
    return fmt::format(
        "line {}: ends in a carriage return (Windows line end); convert the log with: sed -i 's/\\r$//' FILE",
        line_of(carriage));
  }
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  });
  if (control != text.end()) {
    return fmt::format("line {}: holds a control character (code {}); expected plain text",
                       line_of(static_cast<std::size_t>(control - text.begin())), static_cast<int>(*control));
  }
  if (text.back() != '\n') {
    return fmt::format("line {}: has no line end, so the log is cut off; expected every line to be whole",
                       line_of(text.size()));
  }
  return "";
}

std::string problem_with_owner(std::string_view line, const std::optional<int>& rank, int num_ranks) {
  if (num_rank_marks(line) > 1) return fmt::format("two lines run together: \"{}\"", line);
  if (!rank) return fmt::format("unknown line \"{}\"; expected one that begins with [Rank r] or [name][Rank r]", line);
  if (*rank >= num_ranks) {
    return fmt::format("rank {} is not one of the {}; was the run started with --nproc {}?", *rank,
                       counted(num_ranks, "rank"), num_ranks);
  }
  return "";
}

}  // namespace

std::vector<std::string> check_log(std::string_view text, const LogExpectation& expectation) {
  if (std::string problem = problem_with_file(text); !problem.empty()) return {std::move(problem)};

  std::vector<LogProblem> problems;
  const auto num_ranks = static_cast<std::size_t>(expectation.num_ranks());
  std::vector<std::vector<LogLine>> per_rank(num_ranks);
  for (const LogLine& line : split_lines(text)) {
    const std::optional<int> rank = rank_of_line(line.text);
    const std::string problem = problem_with_owner(line.text, rank, expectation.num_ranks());
    if (problem.empty()) {
      per_rank[static_cast<std::size_t>(*rank)].push_back(line);
    } else {
      problems.push_back({line.number, fmt::format("line {}: {}", line.number, problem)});
    }
  }

  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    const std::vector<ExpectedLine>& expected = expectation.per_rank[rank];
    if (per_rank[rank].empty() && !expected.empty()) {
      problems.push_back({0, fmt::format("rank {}: printed nothing; expected {} lines, the first being {}", rank,
                                         expected.size(), describe(expected.front(), static_cast<int>(rank)))});
      continue;
    }
    const std::vector<LogProblem> own = align_rank(static_cast<int>(rank), expected, per_rank[rank]);
    problems.insert(problems.end(), own.begin(), own.end());
  }

  // Only where every line is in its place does an index name the line it stands for.
  for (const OrderRule& rule : problems.empty() ? expectation.order : std::vector<OrderRule>{}) {
    const LogLine& before = per_rank.at(static_cast<std::size_t>(rule.before.rank)).at(rule.before.index);
    const LogLine& after = per_rank.at(static_cast<std::size_t>(rule.after.rank)).at(rule.after.index);
    if (before.number < after.number) continue;
    problems.push_back({after.number, fmt::format("line {}: \"{}\" must come after \"{}\", which is on line {}",
                                                  after.number, after.text, before.text, before.number)});
  }

  std::stable_sort(problems.begin(), problems.end(),
                   [](const LogProblem& a, const LogProblem& b) { return a.line_number < b.line_number; });
  std::vector<std::string> sentences;
  for (LogProblem& problem : problems) sentences.push_back(std::move(problem.sentence));
  return sentences;
}

}  // namespace lab
