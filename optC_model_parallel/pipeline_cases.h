#pragma once

#include <vector>

#include "common/lab/section.h"

namespace lab::optc {

/// The checks of the pipeline's tasks, in the order of the log.
std::vector<Section> pipeline_sections();

}  // namespace lab::optc
