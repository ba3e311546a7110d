#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::optc {

/// A comparison by norm, for sums of float64 values in whatever order.
Tolerance by_norm(double relative_norm);

/// The functions of a pipeline that need no other rank, each by itself.
std::vector<Case> pipeline_part_cases();

/// The same for those of schedules with stale weights.
std::vector<Case> version_cases();

}  // namespace lab::optc
