#include "a5_pipeline/model/deferred_linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "a5_pipeline/linear.h"

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
    return apply_weight(x, weight);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const variable_list saved = context->get_saved_variables();
    auto* deferred = reinterpret_cast<std::vector<DeferredGradient>*>(context->saved_data["deferred"].toInt());
    const at::Tensor& grad_out = grad_outputs[0];
    deferred->push_back({saved[1], saved[0].detach(), grad_out});
    return {product(grad_out, saved[1]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor deferred_linear(const at::Tensor& x, const at::Tensor& weight, std::vector<DeferredGradient>& deferred) {
  return DeferredLinear::apply(x, weight, &deferred);
}

void add_deferred_gradients(const std::vector<DeferredGradient>& deferred) {
  const c10::NoGradGuard no_grad;
  // A weight's first gradient becomes its sum, to which those of later micro-batches are added in order.
  for (const DeferredGradient& one : deferred) {
    const at::Tensor gradient = weight_gradient(one.x, one.grad_out);
    at::Tensor& grad = at::Tensor(one.weight).mutable_grad();
    if (grad.defined()) {
      grad.add_(gradient);
    } else {
      grad = gradient;
    }
  }
}

}  // namespace lab::a5
