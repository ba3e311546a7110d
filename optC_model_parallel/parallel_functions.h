#pragma once

#include <ATen/ATen.h>

#include "common/comm/collectives.h"

// Communication that autograd understands. In the backward pass every rank takes part, in the same order: all ranks
// build the same graph and all call backward(). `comm` must live until then.
namespace lab::optc {

/// optC.copy_to_region, "f": what enters a part of the model that ranks share. Forward: the identity. Backward: the sum
/// of all ranks' gradients.
/// Aliasing  the incoming gradient is not changed: autograd forbids it
/// Source    Megatron-LM, arXiv:1909.08053, section 3
at::Tensor copy_to_region(const at::Tensor& x, Collectives& comm);

/// optC.reduce_from_region, "g": what leaves it. Forward: the sum over all ranks. Backward: the identity.
/// Aliasing  x is not changed
at::Tensor reduce_from_region(const at::Tensor& x, Collectives& comm);

/// optC.reduce_within_region. A sum of all ranks' x that each rank goes on with in a way of its own. Forward and
/// backward: the sum over all ranks.
at::Tensor reduce_within_region(const at::Tensor& x, Collectives& comm);

}  // namespace lab::optc
