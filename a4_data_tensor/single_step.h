#pragma once

#include "a4_data_tensor/step.h"

namespace lab::a4 {

struct StepResult {
  at::Tensor initial_weight;  ///< [input_dim, output_dim], untouched by the update
  at::Tensor updated_weight;  ///< [input_dim, output_dim], detached
};

/// One SGD step of a linear layer on one rank: the reference that the parallel versions must reproduce.
/// Call      local, autograd inside
/// Data      initial_weight(options), create_batch(options)
/// Loss      mean squared error, mean over batch and output
/// Example   seed 42: initial and updated differ by at most 1.193051e-01, by 3.029096e-02 on average
StepResult single_step(const StepOptions& options);

}  // namespace lab::a4
