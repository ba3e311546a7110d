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
    return {collectives.all_reduce(grad_outputs.at(0).clone()), {}};
  }
};

class GatherParallel : public torch::autograd::Function<GatherParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* collectives) {
    remember(context, collectives);
    return at::cat(collectives->all_gather(x.contiguous()), x.dim() - 1);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& collectives = recall<Collectives>(context);
    const auto chunks = grad_outputs.at(0).chunk(collectives.size(), -1);
    return {chunks.at(collectives.rank()).clone(), {}};
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
