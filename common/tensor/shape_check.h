#pragma once

#include <ATen/ATen.h>

#include "common/tensor/describe.h"

namespace lab {

/// Checks that the tensor has the expected shape; an expected size of 0 or less allows any size there, and an undefined
/// tensor always passes.
/// Errors    ContractError: "SHAPE GUARD: ...", the handout's message for a wrong number of dimensions or a wrong size
/// Example   check(x, {32, -1, 10})
void check(const at::Tensor& tensor, at::IntArrayRef expected_shape);

}  // namespace lab
