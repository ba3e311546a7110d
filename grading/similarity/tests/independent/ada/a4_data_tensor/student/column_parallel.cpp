#include "a4_data_tensor/column_parallel.h"

#include <torch/torch.h>

#include "a4_data_tensor/parallel_functions.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

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
  at::Tensor input = broadcast_parallel(x, collectives_);
  at::Tensor result = at::matmul(input, W);
  if (bias.defined()) {
    result = result + bias;
  }
  return gather_parallel(result, collectives_);
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
  std::vector<at::Tensor> pieces = collectives.all_gather(local_updated_weight);
  return at::cat(pieces, 1);
}

}  // namespace lab::a4
