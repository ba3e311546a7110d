#include "a5_pipeline/deferred_linear.h"

#include <torch/csrc/autograd/custom_function.h>

namespace lab::a5 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class DeferredLinear : public torch::autograd::Function<DeferredLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            std::vector<DeferredGradient>* deferred) {
    context->save_for_backward({x, weight});
    context->saved_data["deferred"] = reinterpret_cast<std::int64_t>(deferred);
    return at::linear(x, weight);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const variable_list saved = context->get_saved_variables();
    auto* deferred = reinterpret_cast<std::vector<DeferredGradient>*>(context->saved_data["deferred"].toInt());
    const at::Tensor& grad_out = grad_outputs[0];
    deferred->push_back({saved[1], saved[0].detach(), grad_out});
    return {at::matmul(grad_out, saved[1]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor deferred_linear(const at::Tensor& x, const at::Tensor& weight, std::vector<DeferredGradient>& deferred) {
  return DeferredLinear::apply(x, weight, &deferred);
}

void add_deferred_gradients(const std::vector<DeferredGradient>& deferred) {
  const c10::NoGradGuard no_grad;
  for (const DeferredGradient& one : deferred) {
    const at::Tensor rows = one.grad_out.reshape({-1, one.grad_out.size(-1)});
    const at::Tensor gradient = at::matmul(rows.t(), one.x.reshape({-1, one.x.size(-1)}));
    at::Tensor& grad = at::Tensor(one.weight).mutable_grad();
    if (grad.defined()) {
      grad.add_(gradient);
    } else {
      grad = gradient;
    }
  }
}

}  // namespace lab::a5
