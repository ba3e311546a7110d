#pragma once

#include <vector>

#include "b1_total/calls/calls.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"

namespace lab::b1 {

std::vector<Case> all_cases();
std::vector<LabStep> program_steps();
log::LogExpectation expected_log(int num_ranks);

/// For the judge.
GradedLab graded_lab();

}  // namespace lab::b1
