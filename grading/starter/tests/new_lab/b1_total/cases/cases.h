#pragma once

#include <vector>

#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"

namespace lab::b1 {

std::vector<Case> all_cases();
CallTable calls();
std::vector<LabStep> program_steps();
log::LogExpectation expected_log(int num_ranks);

/// For the judge.
GradedLab graded_lab();

}  // namespace lab::b1
