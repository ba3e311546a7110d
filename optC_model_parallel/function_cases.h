#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::optc {

/// f, g, and the sum within a region, on exact data. Results "out", "x.grad", and as they came out "x" and "grad_out".
std::vector<Case> function_cases();

}  // namespace lab::optc
