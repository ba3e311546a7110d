#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace lab::a5 {

/// One weight's gradient that is still to be computed: grad_out^T x, summed over everything but the last dimension.
struct DeferredGradient {
  at::Tensor weight;    ///< [out, in]
  at::Tensor x;         ///< [..., in], what the layer was given
  at::Tensor grad_out;  ///< [..., out], the gradient of what it returned
};

/// apply_weight(x, weight), whose backward pass computes the gradient of x alone and leaves behind what the
/// gradient of the weight needs.
/// Call      local, differentiable in x, which must require a gradient; `deferred` must outlive the backward pass
/// Source    Zero Bubble Pipeline Parallelism, arXiv:2401.10241, section 2
at::Tensor deferred_linear(const at::Tensor& x, const at::Tensor& weight, std::vector<DeferredGradient>& deferred);

/// Computes what was put off, and adds it to the weights' gradients.
void add_deferred_gradients(const std::vector<DeferredGradient>& deferred);

}  // namespace lab::a5
