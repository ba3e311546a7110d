#pragma once

#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/api/tensor_map.h"

namespace lab::a5 {

/// The model's results, computed without autograd and without student code.
struct Reference {
  std::vector<at::Tensor> outputs;  ///< one [B, S, H] per micro-batch
  TensorMap gradients;              ///< by "layer3.fc1"
};

/// Forward and backward of every micro-batch by the chain rule written out: with z = x F1^T, y = f(z) F2^T and the
/// gradient G of y, that of F2 is G^T f(z), that of F1 is A^T x with A = (G F2) * f'(z), that of x is A F1. For ReLU
/// f'(z) is 1 where f(z) is above 0, otherwise 0; for tanh 1 - f(z)^2. G of the last layer is 1 / (B S H) everywhere.
Reference compute_reference(const PipelineArguments& arguments);

}  // namespace lab::a5
