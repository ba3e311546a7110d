#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::vae {

/// vae.conv2d, vae.conv2d_halo: the handout's sizes; further kernels, strides and paddings; and what halos may cost.
std::vector<Case> conv_cases();
/// vae.conv2d_gradient.
std::vector<Case> conv_gradient_cases();

}  // namespace lab::vae
