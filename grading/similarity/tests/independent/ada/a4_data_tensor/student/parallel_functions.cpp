#include "a4_data_tensor/parallel_functions.h"

#include <torch/torch.h>

#include "common/api/autograd_facet.h"
#include "common/api/errors.h"

namespace lab::a4 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class BroadcastParallel : public torch::autograd::Function<BroadcastParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* collectives) {
    remember(context, collectives);
    return x.view_as(x);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& collectives = recall<Collectives>(context);
    at::Tensor grad = grad_outputs[0].clone();
    collectives.all_reduce(grad);
    return {grad, at::Tensor()};
  }
};

class GatherParallel : public torch::autograd::Function<GatherParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* collectives) {
    remember(context, collectives);
    std::vector<at::Tensor> parts = collectives->all_gather(x);
    return at::cat(parts, -1);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& collectives = recall<Collectives>(context);
    at::Tensor grad = grad_outputs[0];
    int64_t width = grad.size(-1) / collectives.size();
    at::Tensor slice = grad.narrow(-1, collectives.rank() * width, width).contiguous();
    return {slice, at::Tensor()};
  }
};

}  // namespace

at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& collectives) {
  return BroadcastParallel::apply(x, &collectives);
}

at::Tensor gather_parallel(const at::Tensor& x, Collectives& collectives) {
  return GatherParallel::apply(x, &collectives);
}

}  // namespace lab::a4
