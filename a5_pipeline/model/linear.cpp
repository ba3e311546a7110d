#include "a5_pipeline/linear.h"

#include <torch/csrc/autograd/custom_function.h>

namespace lab::a5 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Saves bfloat16 tensors for the backward pass: only the products themselves are computed in float32.
class Bfloat16Linear : public torch::autograd::Function<Bfloat16Linear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    context->save_for_backward({x, weight});
    return product(x, weight.t());
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const variable_list saved = context->get_saved_variables();
    return {product(grad_outputs[0], saved[1]), weight_gradient(saved[0], grad_outputs[0])};
  }
};

}  // namespace

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != at::kBFloat16) return at::matmul(a, b);
  return at::matmul(a.to(at::kFloat), b.to(at::kFloat)).to(at::kBFloat16);
}

at::Tensor apply_weight(const at::Tensor& x, const at::Tensor& weight) {
  return x.scalar_type() == at::kBFloat16 ? Bfloat16Linear::apply(x, weight) : at::linear(x, weight);
}

at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& grad_out) {
  return product(grad_out.reshape({-1, grad_out.size(-1)}).t(), x.reshape({-1, x.size(-1)}));
}

}  // namespace lab::a5
