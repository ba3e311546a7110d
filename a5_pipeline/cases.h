#pragma once

#include <vector>

#include "common/lab/section.h"

namespace lab::a5 {

/// What the lab checks, in the order of its log. Between the two the lab compares the model of the options' sizes with
/// its baseline: what that stands on is checked first.
std::vector<Section> sections_before_comparison();
std::vector<Section> sections_after_comparison();

/// The cases of all sections.
std::vector<Case> all_cases();

}  // namespace lab::a5
