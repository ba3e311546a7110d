#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"
#include "common/api/parallel_functions.h"

// Communication that autograd understands. Every rank takes part in the backward pass, in the same order: all ranks
// build the same graph and call backward(). `comm` must live until then. A sum is one all-reduce, or a reduce-scatter
// and an all-gather, which send as much; in bfloat16 it may be of float32.
namespace lab::optc {

// f and g, which are given.
using provided::broadcast_parallel;
using provided::reduce_parallel;

/// optC.reduce_within_region. A sum of all ranks' x that each rank then uses in its own way. Forward and backward: the
/// sum over all ranks.
/// Aliasing  x is not changed, nor is the incoming gradient: autograd forbids it
at::Tensor reduce_within_region(const at::Tensor& x, Collectives& comm);

}  // namespace lab::optc
