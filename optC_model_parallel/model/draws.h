#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "optC_model_parallel/model.h"

namespace lab::optc {

/// A tensor as first_parameters() returns it, in float64.
at::Tensor draw_parameter(const ParameterSpec& spec, std::uint64_t seed);

}  // namespace lab::optc
