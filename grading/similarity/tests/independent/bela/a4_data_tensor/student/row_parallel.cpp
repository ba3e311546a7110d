#include "a4_data_tensor/row_parallel.h"

#include <torch/torch.h>

#include "a4_data_tensor/parallel_functions.h"
#include "common/api/autograd_facet.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

namespace lab::a4 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ReduceParallel : public torch::autograd::Function<ReduceParallel> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Collectives* collectives) {
    auto copy = x.detach().clone();
    return collectives->all_reduce(copy);
  }

  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    return {grad_outputs[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor reduce_parallel(const at::Tensor& x, Collectives& collectives) {
  return ReduceParallel::apply(x, &collectives);
}

RowParallelLinear::RowParallelLinear(const at::Tensor& weight, const at::Tensor& full_bias, Collectives& collectives)
    : collectives_(collectives) {
  const Slice rows = even_slice(weight.size(0), collectives.size(), collectives.rank(), "input dimension");
  W = weight.detach().narrow(0, rows.begin, rows.size).clone().requires_grad_();
  if (full_bias.defined()) bias = full_bias.detach().clone().requires_grad_();
}

at::Tensor RowParallelLinear::forward(const at::Tensor& x_shard) const {
  check(x_shard, {-1, W.size(0)});
  auto total = reduce_parallel(x_shard.matmul(W), collectives_);
  if (!bias.defined()) return total;
  return total + bias;
}

ColumnRowPair::ColumnRowPair(const at::Tensor& weight1, const at::Tensor& weight2, Collectives& collectives)
    : second(weight2, at::Tensor(), collectives), collectives_(collectives) {
  const Slice columns = even_slice(weight1.size(1), collectives.size(), collectives.rank(), "hidden dimension");
  W1 = weight1.detach().narrow(1, columns.begin, columns.size).clone().requires_grad_();
}

at::Tensor ColumnRowPair::forward(const at::Tensor& x) const {
  check(x, {-1, W1.size(0)});
  return second.forward(broadcast_parallel(x, collectives_).matmul(W1).relu());
}

}  // namespace lab::a4
