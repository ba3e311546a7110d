#pragma once

#include "a4_data_tensor/step.h"
#include "common/api/collectives.h"

namespace lab::a4 {

/// The same step with the batch split over the ranks: each computes on its slice, the gradients are averaged, and all
/// ranks apply the same update. Of B rows, rank r of P has r B/P to (r + 1) B/P - 1, and must not read the others.
/// Call      collective, blocking, autograd inside
/// Returns   the updated weight [input_dim, output_dim] on every rank, detached
/// Cost      one sum of the weight's gradient
/// Errors    ContractError: the global batch size is not divisible by the number of ranks (checked before your code)
/// Source    Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, section 3
at::Tensor data_parallel_single_step(const StepOptions& options, Collectives& collectives);

}  // namespace lab::a4
