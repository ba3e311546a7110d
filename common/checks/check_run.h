#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/verdict.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// What became of one case.
struct CheckedCase : CaseVerdict {
  std::optional<RankFailure> failure;   ///< of its world, if the case is to blame for that
  std::vector<std::string> rank_lines;  ///< what each rank was doing when that world was found stuck

  bool right() const { return passed() && !failure; }
};

/// What became of one task's cases.
struct TaskCheck {
  std::string task;
  std::vector<CheckedCase> cases;

  bool passed() const;               ///< some case is right, and all others are, too, or were skipped
  bool skipped() const;              ///< all cases
  std::string missing_task() const;  ///< the TODO that was reached; empty: none
  /// 0 passed or skipped; 3 a TODO was reached; of the first failed world; 1 a case is wrong or costs too much.
  int exit_code() const;
};

/// Performs the cases in one world as long as nothing goes wrong in it, so that what throws or hangs costs that case
/// only (perform_apart); then judges all in this process. In the order of the cases.
/// Call      forks (see run_ranks): nothing in this process may have used a thread pool or gone backward
/// Errors    UsageError: the system refuses a process or a file
std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& world,
                                  std::uint64_t seed);

}  // namespace lab
