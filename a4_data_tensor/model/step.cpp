#include "a4_data_tensor/step.h"

#include "common/tensor/seeded.h"
#include "common/tensor/shape_check.h"

namespace lab::a4 {

at::Tensor initial_weight(const StepOptions& options) {
  return seeded_randn({options.input_dim, options.output_dim}, options.seed).to(options.device);
}

Batch create_batch(const StepOptions& options) {
  const Batch batch = lab::create_batch(options.global_batch_size, options.input_dim, options.output_dim, options.seed);
  return {batch.inputs.to(options.device), batch.targets.to(options.device)};
}

CustomLinearLayer::CustomLinearLayer(const at::Tensor& weight) : W(weight.detach().clone().requires_grad_()) {}

at::Tensor CustomLinearLayer::forward(const at::Tensor& x) const {
  check(x, {-1, W.size(0)});
  const at::Tensor out = at::einsum("bi,ij->bj", {x, W});
  check(out, {x.size(0), W.size(1)});
  return out;
}

}  // namespace lab::a4
