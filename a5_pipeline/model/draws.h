#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "a5_pipeline/arguments.h"

namespace lab::a5 {

/// What the data loader returns as micro-batch i, which must be in range: [B, S, H], on the CPU.
at::Tensor draw_micro_batch(const PipelineArguments& arguments, std::int64_t i);

}  // namespace lab::a5
