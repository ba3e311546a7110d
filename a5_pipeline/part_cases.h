#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::a5 {

/// Q2, Q4 to Q7: what the pipeline is made of.
std::vector<Case> part_cases();

/// Q9 and Q10: the comparisons.
std::vector<Case> comparison_cases();

}  // namespace lab::a5
