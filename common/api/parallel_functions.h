#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"

// Megatron's f and g, provided for code that uses them and does not ask for them: A4 and A9 have them as tasks. Every
// rank takes part in the backward pass, in the same order: all ranks build the same graph and call backward().
// `collectives` must live until then.
namespace lab::provided {

/// f, where x enters a part of the model that is split over ranks. Forward: the identity. Backward: the sum of all
/// ranks' gradients.
/// Source    Megatron-LM, arXiv:1909.08053, section 3
at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& collectives);

/// g, where the result leaves it. Forward: the sum over all ranks; x is not changed. Backward: the identity.
at::Tensor reduce_parallel(const at::Tensor& x, Collectives& collectives);

}  // namespace lab::provided
