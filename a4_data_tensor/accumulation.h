#pragma once

#include "a4_data_tensor/step.h"

namespace lab::a4 {

/// The same step with the batch cut into `accumulation_steps` micro-batches whose gradients are accumulated before the
/// single update.
/// Call      local, autograd inside
/// Memory    less than one pass over the whole batch takes
/// Returns   the updated weight [input_dim, output_dim], detached
/// Errors    ContractError: the global batch size is not divisible by accumulation_steps (checked before your code)
at::Tensor single_step_with_grad_accumulation(const StepOptions& options, std::int64_t accumulation_steps = 4);

}  // namespace lab::a4
