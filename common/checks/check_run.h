#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/verdict.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// The outcome of one case.
struct CheckedCase : CaseVerdict {
  std::optional<RankFailure> failure;   ///< of its world, if the case is to blame for that
  std::vector<std::string> rank_lines;  ///< what each rank was doing when that world was found stuck

  bool right() const { return passed() && !failure; }
};

/// The outcome of one task's cases.
struct TaskCheck {
  std::string task;
  std::vector<CheckedCase> cases;

  bool passed() const;               ///< at least one case is right, the others right or skipped
  bool skipped() const;              ///< all cases
  std::string missing_task() const;  ///< the TODO that was reached; empty: none
  /// 3: a TODO was reached; otherwise that of the first failed world; 1: a case is wrong or costs too much; 0: passed
  /// or skipped.
  int exit_code() const;
};

/// Performs the cases in one world as long as nothing goes wrong in it, such that a case that throws or hangs fails
/// alone (perform_apart); then judges all of them in this process. In the order of the cases.
/// Call      forks (see run_ranks): this process must not have used a thread pool or run backward()
/// Errors    UsageError: the system cannot create a process or a file
std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& world,
                                  std::uint64_t seed);

}  // namespace lab
