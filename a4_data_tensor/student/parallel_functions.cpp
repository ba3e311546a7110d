#include "a4_data_tensor/parallel_functions.h"

#include <torch/torch.h>

#include "common/comm/autograd_facet.h"
#include "common/base/errors.h"

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
    // BEGIN SOLUTION a4.broadcast_parallel
    // STUB // TODO(a4.broadcast_parallel): return the sum over all ranks of grad_outputs[0], and an undefined tensor
    // STUB // for the argument that has no gradient: {grad, at::Tensor()}. Do not change grad_outputs[0] itself.
    // STUB not_implemented("a4.broadcast_parallel", grad_outputs, collectives);
    return {collectives.all_reduce(grad_outputs[0].clone()), at::Tensor()};
    // END SOLUTION a4.broadcast_parallel
  }
};

class GatherParallel : public torch::autograd::Function<GatherParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* collectives) {
    remember(context, collectives);
    // BEGIN SOLUTION a4.gather_parallel
    // STUB // TODO(a4.gather_parallel): return all ranks' x side by side along the last dimension, in rank order.
    // STUB not_implemented("a4.gather_parallel", x);
    return at::cat(collectives->all_gather(x), -1);
    // END SOLUTION a4.gather_parallel
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& collectives = recall<Collectives>(context);
    // BEGIN SOLUTION a4.gather_parallel
    // STUB // TODO(a4.gather_parallel): return this rank's slice of grad_outputs[0] along the last dimension: {slice,
    // STUB // at::Tensor()}.
    // STUB not_implemented("a4.gather_parallel", grad_outputs, collectives);
    return {grad_outputs[0].chunk(collectives.size(), -1)[static_cast<std::size_t>(collectives.rank())].contiguous(),
            at::Tensor()};
    // END SOLUTION a4.gather_parallel
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
