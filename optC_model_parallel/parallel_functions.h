#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"

// Communication that autograd understands. Every rank takes part in the backward pass, in the same order: all ranks
// build the same graph and call backward(). `comm` must live until then. A sum is one all-reduce, or a reduce-scatter
// and an all-gather, which send as much; in bfloat16 it may be of float32.
namespace lab::optc {

/// optC.copy_to_region, "f": where x enters a part of the model that is split over ranks. Forward: the identity.
/// Backward: the sum of all ranks' gradients.
/// Aliasing  the incoming gradient must not be modified: autograd forbids it
/// Source    Megatron-LM, arXiv:1909.08053, section 3
at::Tensor copy_to_region(const at::Tensor& x, Collectives& comm);

/// optC.reduce_from_region, "g": where the result leaves it. Forward: the sum over all ranks. Backward: the identity.
/// Aliasing  x is not changed
at::Tensor reduce_from_region(const at::Tensor& x, Collectives& comm);

/// optC.reduce_within_region. A sum of all ranks' x that each rank then uses in its own way. Forward and backward: the
/// sum over all ranks.
at::Tensor reduce_within_region(const at::Tensor& x, Collectives& comm);

}  // namespace lab::optc
