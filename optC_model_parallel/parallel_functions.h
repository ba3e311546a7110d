#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"

// Communication that autograd understands. Every rank takes part in the backward pass, in the same order: all ranks
// build the same graph and call backward(). `comm` must live until then. A sum is one all-reduce, or a reduce-scatter
// and an all-gather, which send as much; in bfloat16 it may be of float32.
namespace lab::optc {

// f and g (Megatron-LM, arXiv:1909.08053, section 3), in f_and_g.cpp: given, unless your course asks for them.

/// f, where x enters a part of the model that is split over ranks. Forward: the identity. Backward: the sum of all ranks'
/// gradients; the incoming one is not changed.
at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& comm);

/// g, where the result leaves it. Forward: the sum over all ranks; x is not changed. Backward: the identity.
at::Tensor reduce_parallel(const at::Tensor& x, Collectives& comm);

/// optC.reduce_within_region. A sum of all ranks' x that each rank then uses in its own way. Forward and backward: the
/// sum over all ranks.
/// Aliasing  x is not changed, nor is the incoming gradient: autograd forbids it
at::Tensor reduce_within_region(const at::Tensor& x, Collectives& comm);

}  // namespace lab::optc
