#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::optc {

/// A linear layer, split by columns and by rows.
std::vector<Case> linear_cases();

/// LayerNorm over features that are split.
std::vector<Case> norm_cases();

}  // namespace lab::optc
