#pragma once

#include <ATen/ATen.h>

#include "common/comm/collectives.h"

// The differentiable seams between ranks. `collectives` must live until the backward pass is over.
namespace lab::a4 {

/// f: what enters a column-parallel layer. Forward: the identity. Backward: the sum of all ranks' gradients.
/// Call      collective in the backward pass
/// Aliasing  the incoming gradient is not changed: autograd forbids it
/// Source    Megatron-LM, arXiv:1909.08053, section 3, "f"
at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& collectives);

/// Forward: all ranks' tensors side by side along the last dimension, in rank order. Backward: this rank's slice of the
/// gradient.
/// Shapes    x [..., n], out [..., P*n]
/// Example   2 ranks, x = [r]: out = [0, 1] on both; a gradient [g0, g1] goes back as [g_r]
at::Tensor gather_parallel(const at::Tensor& x, Collectives& collectives);

}  // namespace lab::a4
