#include "a4_data_tensor/column_parallel.h"

#include <torch/torch.h>

#include "a4_data_tensor/parallel_functions.h"
#include "common/base/errors.h"
#include "common/tensor/partition.h"
#include "common/tensor/shape_check.h"

namespace lab::a4 {

FullColumnParallelLinear::FullColumnParallelLinear(const at::Tensor& weight, const at::Tensor& full_bias,
                                                   Collectives& collectives)
    : collectives_(collectives) {
  const Slice columns = even_slice(weight.size(1), collectives.size(), collectives.rank(), "output dimension");
  W = weight.detach().narrow(1, columns.begin, columns.size).clone().requires_grad_();
  if (full_bias.defined()) bias = full_bias.detach().narrow(0, columns.begin, columns.size).clone().requires_grad_();
}

at::Tensor FullColumnParallelLinear::forward(const at::Tensor& x) const {
  check(x, {-1, W.size(0)});
  // BEGIN SOLUTION a4.column_parallel
  // STUB // TODO(a4.column_parallel): let x enter through f (broadcast_parallel), multiply by this rank's columns, add
  // STUB // this rank's part of the bias if there is one, and gather the columns of all ranks (gather_parallel).
  // STUB not_implemented("a4.column_parallel", x, collectives_);
  const at::Tensor everywhere = broadcast_parallel(x, collectives_);
  at::Tensor local_out = at::einsum("bi,ij->bj", {everywhere, W}).contiguous();
  check(local_out, {x.size(0), W.size(1)});
  if (bias.defined()) local_out = local_out + bias;

  const at::Tensor out = gather_parallel(local_out, collectives_);
  check(out, {x.size(0), W.size(1) * collectives_.size()});
  return out;
  // END SOLUTION a4.column_parallel
}

at::Tensor full_column_parallel_single_step(const StepOptions& options, Collectives& collectives) {
  FullColumnParallelLinear model(initial_weight(options), at::Tensor(), collectives);
  torch::optim::SGD optimizer({model.W}, options.learning_rate);
  const Batch batch = create_batch(options);

  const at::Tensor outputs = model.forward(batch.inputs);
  const at::Tensor loss = torch::mse_loss(outputs, batch.targets);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();

  const at::Tensor local_updated_weight = model.W.detach();
  check(local_updated_weight, {options.input_dim, options.output_dim / collectives.size()});
  // BEGIN SOLUTION a4.column_parallel
  // STUB // TODO(a4.column_parallel): gather the updated columns of all ranks and return the whole weight [input_dim,
  // STUB // output_dim].
  // STUB not_implemented("a4.column_parallel", local_updated_weight);
  const at::Tensor global_updated_weight = at::cat(collectives.all_gather(local_updated_weight), 1);
  check(global_updated_weight, {options.input_dim, options.output_dim});
  return global_updated_weight;
  // END SOLUTION a4.column_parallel
}

}  // namespace lab::a4
