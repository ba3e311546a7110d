#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/log/expected_line.h"
#include "common/log/log_expectation.h"

namespace lab::log {

/// "1-3,5" for 1, 2, 3 and 5.
std::string text_of_ranges(const std::set<int>& numbers);

/// The numbers, or nothing if text_of_ranges() cannot have written the text. None is above `max`.
std::optional<std::set<int>> parse_ranges(std::string_view text, int max);

}  // namespace lab::log

// What logs must hold, as data: a lab's expected_log.txt has the lines of its runs, so that whoever checks a log needs
// neither the lab nor LibTorch.
namespace lab::log {

/// A line, and the ranks that print it.
struct ExpectedRunLine {
  ExpectedLine line;  ///< in a skip's reason, {ranks} stands for how many there are
  std::map<int, std::set<int>>
      ranks_on;  ///< by the number of ranks; a number that is missing: the line is not printed there
};

/// The lines of right runs with the same options, on each of some numbers of ranks.
struct ExpectedRun {
  std::string options;                 ///< those that change lines, "modules --only conv2d"; empty: none
  std::set<int> sizes;                 ///< the numbers of ranks
  std::vector<ExpectedRunLine> lines;  ///< in an order that is right for each size
};

/// The lines of a run on one number of ranks.
ExpectedRun expected_run(const std::string& options, const LogExpectation& log);

/// Adds the lines of a run with the same options on other numbers of ranks: what both have is one line.
void merge(ExpectedRun& all, const ExpectedRun& other);

/// What a log of the run must hold on this number of ranks.
/// Errors    UsageError: none of the run's sizes
LogExpectation expectation_on(const ExpectedRun& run, int num_ranks);

/// The run as text. A line is "RANKS | KIND | CONTENT":
///
///     run --world sim
///     ranks 1-4,8
///     all | text | [Rank {rank}] done                      on every rank
///     0 | text | [Rank {rank}] All ranks ready!
///     last on 1-4 | True max 1e-06 | Outputs               the prefix of a match line, with the largest max diff
///     0 | False exactly 1.193051e-01 3.029096e-02 |        no prefix; max and mean diff, "-" for any
///     all on 3; 0-1,5 on 8 | skipped | Block | 4 heads do not divide by {ranks} ranks
///
/// Errors    ContractError: a line that this form cannot express
std::string to_text(const ExpectedRun& run);

/// The runs of a text. Empty lines, and those that begin with '#', are skipped.
/// Errors    UsageError: NAME, the line, what was expected
std::vector<ExpectedRun> expected_runs(std::string_view text, const std::string& name);

}  // namespace lab::log
