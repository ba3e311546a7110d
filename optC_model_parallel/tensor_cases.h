#pragma once

#include <vector>

#include "common/lab/section.h"

namespace lab::optc {

/// The checks of tensor parallelism's tasks, in the order of the log.
std::vector<Section> tensor_sections();

}  // namespace lab::optc
