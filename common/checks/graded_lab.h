#pragma once

#include <vector>

#include "common/checks/checked_sizes.h"
#include "common/log/log_expectation.h"

namespace lab {

/// What a lab provides to the judge: graded_lab() in its cases/cases.h. The lab is found by its folder's rubric.toml.
struct GradedLab {
  std::vector<Case> (*cases)() = nullptr;
  log::LogExpectation (*expected_log)(int num_ranks) = nullptr;  ///< nullptr: its hand-in has no log
  CheckedSizes sizes = {};
};

}  // namespace lab
