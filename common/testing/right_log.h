#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/checks/lab_step.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"

// The log of a run in which everything is right, line by line, to test a lab's expectation.
namespace lab::testing {

class RightLog {
 public:
  explicit RightLog(int num_ranks) : num_ranks_(num_ranks) {
    for (int rank = num_ranks - 1; rank >= 0; --rank)
      line(fmt::format("[Distributed Init] Rank {} initialized on N/A on CPU {}.", rank, rank));
    line("[Rank 0] All ranks ready!");
  }

  void line(const std::string& text) { text_ += text + "\n"; }

  /// One rank's line; exact if max_diff is 0.
  void match(const std::string& prefix, int rank, double max_diff) {
    line(format(log::MatchLine{prefix, rank, true, max_diff, max_diff / 4}));
  }

  /// The sections' messages and match lines: with figures of 0 where data are exact, otherwise small ones.
  void check(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      line("[Rank 0] " + section.message);
      for (const Case& test_case : section.cases) check(test_case);
    }
  }

  /// The lines that end every log.
  std::string done() {
    for (int rank = 0; rank < num_ranks_; ++rank) line(fmt::format("[Rank {}] done", rank));
    return text_;
  }

 private:
  void check(const Case& test_case) {
    const std::string reason = find_skip_reason(test_case, num_ranks_);
    // An infinite tolerance: the norm decides.
    const double max_diff = std::min(test_case.tolerance.atol / 8, 1.192093e-07);
    for (int rank = 0; rank < (test_case.only_rank_zero ? 1 : num_ranks_); ++rank) {
      if (reason.empty()) {
        match(test_case.prefix, rank, max_diff);
      } else {
        line(format(log::SkippedLine{test_case.prefix, rank, reason}));
      }
    }
  }

  const int num_ranks_;
  std::string text_;
};

/// The first problem of a log; empty: none.
inline std::string first_problem(const std::string& log, const log::LogExpectation& expectation) {
  const std::vector<std::string> problems = log::check_log(log, expectation);
  return problems.empty() ? "" : problems.front();
}

}  // namespace lab::testing
