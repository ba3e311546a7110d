#pragma once

#include <string>
#include <vector>

#include "common/lab/case.h"
#include "common/report/log_expectation.h"

namespace lab::grading {

/// A lab as the judge knows it: its cases, and what a right run logs. What their `expected` compute is the suite's own, never a submission's.
struct JudgedLab {
  std::string folder;      ///< "a9_collectives"
  std::string short_name;  ///< "a9"
  std::vector<Case> (*cases)();
  LogExpectation (*expected_log)(int num_ranks) = nullptr;  ///< nullptr: its hand-in has no log
};

/// All labs, in the order of the course.
const std::vector<JudgedLab>& judged_labs();

/// By folder or short name.
/// Errors    UsageError: there is none; the nearest is named
const JudgedLab& judged_lab(const std::string& name);

}  // namespace lab::grading
