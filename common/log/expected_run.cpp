#include "common/log/expected_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/log/line_head.h"

namespace lab::log {

std::string text_of_ranges(const std::set<int>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (!text.empty()) text += ',';
    text += std::to_string(*first);
    if (last != first) text += '-' + std::to_string(*last);
    first = next;
  }
  return text;
}

std::optional<std::set<int>> parse_ranges(std::string_view text, int max) {
  std::set<int> numbers;
  for (std::string_view part : split(text, ',')) {
    const std::optional<int> first = take_number(part);
    const std::optional<int> last = take_literal(part, "-") ? take_number(part) : first;
    if (!first || !last || !part.empty() || *last > max) return std::nullopt;
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
  }
  if (text_of_ranges(numbers) != text) return std::nullopt;
  return numbers;
}

namespace {

constexpr const char* kNumRanks = "{ranks} rank";  // also the beginning of "{ranks} ranks"

/// The text with `to` in the place of `from`, except inside a number: "4 rank" is not in "14 ranks".
std::string with_words(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const bool inside_a_number = at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';
    if (!inside_a_number) text.replace(at, from.size(), to);
    at += inside_a_number ? 1 : to.size();
  }
  return text;
}

ExpectedLine with_reason(ExpectedLine line, const std::string& from, const std::string& to) {
  if (auto* skip = std::get_if<ExpectedSkip>(&line)) skip->reason = with_words(skip->reason, from, to);
  return line;
}

/// The same text: the same line.
bool same_line(const ExpectedRunLine& a, const ExpectedRunLine& b) {
  return a.line == b.line;
}

/// The longest sequence of lines that both have, as pairs of indices.
std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<ExpectedRunLine>& a,
                                                              const std::vector<ExpectedRunLine>& b) {
  // most[i][j]: how many lines a from i on and b from j on have in common.
  std::vector<std::vector<int>> most(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      most[i][j] = same_line(a[i], b[j]) ? most[i + 1][j + 1] + 1 : std::max(most[i + 1][j], most[i][j + 1]);
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (same_line(a[i], b[j])) {
      pairs.emplace_back(i++, j++);
    } else if (most[i + 1][j] >= most[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

}  // namespace

ExpectedRun expected_run(const std::string& options, const LogExpectation& log) {
  const int num_ranks = log.num_ranks();
  ExpectedRun run{options, {num_ranks}, {}};
  for (const LinePosition& position : log.added) {
    const ExpectedLine& line = log.per_rank.at(static_cast<std::size_t>(position.rank)).at(position.index);
    ExpectedRunLine next{with_reason(line, fmt::format("{} rank", num_ranks), kNumRanks),
                         {{num_ranks, {position.rank}}}};
    if (run.lines.empty() || !same_line(run.lines.back(), next) ||
        *run.lines.back().ranks_on[num_ranks].rbegin() >= position.rank) {
      run.lines.push_back(std::move(next));
    } else {
      run.lines.back().ranks_on[num_ranks].insert(position.rank);
    }
  }
  return run;
}

void merge(ExpectedRun& all, const ExpectedRun& other) {
  std::vector<ExpectedRunLine> merged;
  std::size_t i = 0, j = 0;
  const auto copy_up_to = [&](std::size_t i_end, std::size_t j_end) {
    for (; i < i_end; ++i) merged.push_back(all.lines[i]);
    for (; j < j_end; ++j) merged.push_back(other.lines[j]);
  };
  for (const auto& [in_all, in_other] : common_lines(all.lines, other.lines)) {
    copy_up_to(in_all, in_other);
    merged.push_back(all.lines[i++]);
    const std::map<int, std::set<int>>& more = other.lines[j++].ranks_on;
    merged.back().ranks_on.insert(more.begin(), more.end());
  }
  copy_up_to(all.lines.size(), other.lines.size());
  all.lines = std::move(merged);
  all.sizes.insert(other.sizes.begin(), other.sizes.end());
}

LogExpectation expectation_on(const ExpectedRun& run, int num_ranks) {
  if (run.sizes.count(num_ranks) == 0) {
    throw UsageError(fmt::format("a run on {}: expected one of the numbers of ranks whose lines are known, {}",
                                 counted(num_ranks, "rank"), text_of_ranges(run.sizes)));
  }
  LogExpectation log(num_ranks);
  for (const ExpectedRunLine& line : run.lines) {
    const auto ranks = line.ranks_on.find(num_ranks);
    if (ranks == line.ranks_on.end()) continue;
    for (const int rank : ranks->second) {
      log.add(rank, with_reason(line.line, kNumRanks, fmt::format("{} rank", num_ranks)));
    }
  }
  return log;
}

}  // namespace lab::log
