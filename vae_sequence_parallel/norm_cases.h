#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::vae {

/// vae.group_norm, vae.group_norm_moments: the handout's sizes; means up to 1000 times the spread, a spread as small as
/// epsilon; and what the moments may cost.
std::vector<Case> norm_cases();
/// vae.group_norm_gradient.
std::vector<Case> norm_gradient_cases();

}  // namespace lab::vae
