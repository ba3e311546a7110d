#pragma once

#include <vector>

#include "common/checks/graded_lab.h"

namespace lab::b1 {

std::vector<Case> all_cases();
CallTable calls();
LogExpectation expected_log(int num_ranks);

/// For the judge.
GradedLab graded_lab();

}  // namespace lab::b1
