#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace lab::a5 {

/// One weight's gradient that is still to be computed: grad_out^T x, summed over everything but the last dimension.
struct DeferredGradient {
  at::Tensor weight;    ///< [out, in]
  at::Tensor x;         ///< [..., in], the layer's input
  at::Tensor grad_out;  ///< [..., out], the gradient of the layer's output
};

/// apply_weight(x, weight), whose backward pass computes only the gradient of x and records in `deferred` what
/// the gradient of the weight needs.
/// Call      local, differentiable in x, which must require a gradient; `deferred` must outlive the backward pass
/// Source    Zero Bubble Pipeline Parallelism, arXiv:2401.10241, section 2
at::Tensor deferred_linear(const at::Tensor& x, const at::Tensor& weight, std::vector<DeferredGradient>& deferred);

/// Computes the deferred gradients and adds them to the weights' gradients.
void add_deferred_gradients(const std::vector<DeferredGradient>& deferred);

}  // namespace lab::a5
