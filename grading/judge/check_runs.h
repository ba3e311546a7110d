#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/lab/case.h"
#include "common/lab/verdict.h"
#include "grading/judge/case_world.h"

namespace lab::grading {

/// One check on one world size.
struct CheckRun {
  CaseVerdict verdict;
  std::string sentence;  ///< why its world failed, if the check is to blame; empty: it did not
  bool deadlocked = false;
};

/// What the runs of one program have in common.
struct CheckRunner {
  const Sandbox& sandbox;
  std::string program;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the checks on so many ranks, together where nothing goes wrong and apart where something does
  /// (perform_apart). One element for each, in order.
  /// Errors    NotJudged: twice, the machine kept a run from its end
  std::vector<CheckRun> run(int num_ranks, const std::vector<Case>& cases) const;
};

}  // namespace lab::grading
