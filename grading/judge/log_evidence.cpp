#include "grading/judge/log_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/text.h"
#include "common/log/check_log.h"
#include "common/log/log_lines.h"
#include "common/log/plain_log.h"

namespace lab::grading {
namespace {

constexpr int kMostRanks = 64;  // a log may contain any rank number

bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

std::string judged_log(const std::string& text, const std::string& program, log::LogExpectation (*expected_log)(int)) {
  int num_ranks = 1;
  for (const log::LogLine& line : log::split_lines(text)) {
    const std::optional<int> rank = log::rank_of_line(line.text);
    if (rank && *rank < kMostRanks) num_ranks = std::max(num_ranks, *rank + 1);
  }
  const std::vector<std::string> problems = log::check_log(text, expected_log(num_ranks), program);
  if (problems.empty()) return fmt::format("is exactly the log of a right run on {}", counted(num_ranks, "rank"));
  return fmt::format("is not the log of a right run on {}: {}{}", counted(num_ranks, "rank"), problems.front(),
                     problems.size() > 1 ? fmt::format("; and {} more", problems.size() - 1) : "");
}

/// The cells of a table row, trimmed; none for any other line.
std::vector<std::string> cells_of_row(std::string_view line) {
  std::vector<std::string> cells;
  if (line.empty() || line.front() != '|') return cells;
  for (const std::string_view cell : split(line.substr(1), '|')) {
    const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    cells.emplace_back(first == std::string_view::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// Verdicts by check and rank, from rows such as `| Conv2d | True 1.5e-07 | **False** 5.0e-01 |`.
struct VerdictTable {
  std::map<std::pair<std::string, int>, bool> verdicts;
  int num_ranks = 1;

  explicit VerdictTable(const std::string& markdown) {
    for (const std::string_view line : split(markdown, '\n')) {
      const std::vector<std::string> cells = cells_of_row(line);
      for (std::size_t i = 1; i < std::min<std::size_t>(cells.size(), kMostRanks + 1); ++i) {
        const bool is_true = cells[i].find("True") != std::string::npos;
        if (!is_true && cells[i].find("False") == std::string::npos) continue;
        verdicts[{cells[0], static_cast<int>(i) - 1}] = is_true;
        num_ranks = std::max(num_ranks, static_cast<int>(i));
      }
    }
  }
};

std::string judged_tables(const std::string& text, log::LogExpectation (*expected_log)(int)) {
  const VerdictTable table(text);
  const log::LogExpectation expected = expected_log(table.num_ranks);
  int num_expected = 0, num_right = 0;
  std::string first_wrong;
  for (int rank = 0; rank < table.num_ranks; ++rank) {
    for (const log::ExpectedLine& line : expected.per_rank[static_cast<std::size_t>(rank)]) {
      const auto* match = std::get_if<log::ExpectedMatch>(&line);
      if (match == nullptr) continue;
      ++num_expected;
      const auto found = table.verdicts.find({match->prefix, rank});
      if (found != table.verdicts.end() && found->second == match->match) {
        ++num_right;
      } else if (first_wrong.empty()) {
        first_wrong = fmt::format("{} on rank {} is {}", match->prefix, rank,
                                  found == table.verdicts.end() ? "missing"
                                  : found->second               ? "True"
                                                                : "False");
      }
    }
  }
  if (first_wrong.empty())
    return fmt::format("shows all {} comparisons of a right run on {}", num_expected, counted(table.num_ranks, "rank"));
  return fmt::format("shows {} of the {} comparisons of a right run on {}; {}", num_right, num_expected,
                     counted(table.num_ranks, "rank"), first_wrong);
}

}  // namespace

std::map<std::string, std::string> evidence_of_logs(const std::map<std::string, std::string>& answers,
                                                    log::LogExpectation (*expected_log)(int num_ranks)) {
  std::map<std::string, std::string> evidence;
  if (expected_log == nullptr) return evidence;
  for (const auto& [name, bytes] : answers) {
    const std::string text = log::plain_log(bytes).value_or(bytes);
    if (ends_with(name, ".log")) evidence[name] = judged_log(text, std::filesystem::path(name).stem(), expected_log);
    if (ends_with(name, "_log.md")) evidence[name] = judged_tables(text, expected_log);
  }
  return evidence;
}

}  // namespace lab::grading
