#pragma once

#include <vector>

#include "common/lab/section.h"

namespace lab::optc {

/// Everything that the lab checks of the tasks, in the order of its log.
std::vector<Section> sections();

/// The cases of all sections.
std::vector<Case> all_cases();

}  // namespace lab::optc
