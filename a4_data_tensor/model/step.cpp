#include "a4_data_tensor/step.h"

#include "common/api/shapes.h"

namespace lab::a4 {

CustomLinearLayer::CustomLinearLayer(const at::Tensor& weight) : W(weight.detach().clone().requires_grad_()) {}

at::Tensor CustomLinearLayer::forward(const at::Tensor& x) const {
  check(x, {-1, W.size(0)});
  const at::Tensor out = at::einsum("bi,ij->bj", {x, W});
  check(out, {x.size(0), W.size(1)});
  return out;
}

}  // namespace lab::a4
