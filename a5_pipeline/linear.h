#pragma once

#include <ATen/ATen.h>

namespace lab::a5 {

/// at::matmul(a, b). Of bfloat16 tensors: the product in float32, rounded once. LibTorch's own bfloat16 products differ
/// from CPU to CPU: some round each addition, and on some CPUs they crash with an illegal instruction.
/// Call      local, not differentiable where the dtype is bfloat16
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// x weight^T, as at::linear(x, weight); in bfloat16 this and both its gradients are product()s.
/// Call      local, differentiable
/// Shapes    x [..., in], weight [out, in], returns [..., out]
at::Tensor apply_weight(const at::Tensor& x, const at::Tensor& weight);

/// The gradient of apply_weight() at its weight: grad_out^T x, summed over everything but the last dimension.
/// Call      local, not differentiable
/// Shapes    x [..., in], grad_out [..., out], returns [out, in]
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& grad_out);

}  // namespace lab::a5
