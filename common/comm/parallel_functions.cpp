#include "common/api/parallel_functions.h"

#include "common/api/autograd_facet.h"

namespace lab::provided {
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
    // Autograd forbids changing the incoming gradient: the ranks sum a copy of it.
    return {recall<Collectives>(context).all_reduce(grad_outputs[0].clone()), at::Tensor()};
  }
};

class ReduceParallel : public torch::autograd::Function<ReduceParallel> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Collectives* collectives) {
    return collectives->all_reduce(x.clone());
  }

  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    return {grad_outputs[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor broadcast_parallel(const at::Tensor& x, Collectives& collectives) {
  return BroadcastParallel::apply(x, &collectives);
}

at::Tensor reduce_parallel(const at::Tensor& x, Collectives& collectives) {
  return ReduceParallel::apply(x, &collectives);
}

}  // namespace lab::provided
