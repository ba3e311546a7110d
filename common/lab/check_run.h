#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/lab/case.h"
#include "common/lab/verdict.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// What became of one task's cases.
struct TaskCheck {
  std::string task;
  std::vector<CaseVerdict> cases;
  std::optional<RankFailure> failure;   ///< of the world in which it ran; empty: all ranks returned
  std::vector<std::string> rank_lines;  ///< what each rank was doing when that was found stuck

  bool passed() const;   ///< some case passed, all others passed or were skipped, and the world did not fail
  bool skipped() const;  ///< all cases
  std::string missing_task() const;  ///< the TODO that was reached; empty: none
  /// 0 passed or skipped; 3 a TODO was reached; of the world's failure; 1 a case is wrong or costs too much.
  int exit_code() const;
};

/// Performs all tasks' cases in one world, and those that did not come through it each in one of its own; then judges
/// all in this process. In the order of the cases.
/// Call      forks (see run_ranks): nothing in this process may have used a thread pool or gone backward
/// Errors    UsageError: the system refuses a process or a file
std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& world,
                                  std::uint64_t seed);

}  // namespace lab
