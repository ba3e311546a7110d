#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"

// Differentiable communication between ranks. `collectives` must outlive the backward pass.
namespace lab::a4 {

/// f: applied to the input of a column-parallel layer. Forward: identity. Backward: the sum of all ranks' gradients.
/// Call      collective in the backward pass
/// Aliasing  the incoming gradient is not modified: autograd forbids it
/// Source    Megatron-LM, arXiv:1909.08053, section 3, "f"
at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& collectives);

/// Forward: all ranks' tensors concatenated along the last dimension, in rank order. Backward: this rank's slice of the
/// gradient.
/// Shapes    x [..., n], out [..., P*n]
/// Example   2 ranks, x = [r]: out = [0, 1] on both; a gradient [g0, g1] goes back as [g_r]
at::Tensor gather_parallel(const at::Tensor& x, Collectives& collectives);

}  // namespace lab::a4
