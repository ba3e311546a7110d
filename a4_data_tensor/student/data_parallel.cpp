#include "a4_data_tensor/data_parallel.h"

#include <torch/torch.h>

#include "common/base/errors.h"
#include "common/tensor/partition.h"
#include "common/tensor/shape_check.h"

namespace lab::a4 {

at::Tensor data_parallel_single_step(const StepOptions& options, Collectives& collectives) {
  // The same seed on every rank gives the same weight and the same batch, of which this rank takes its slice.
  CustomLinearLayer model(initial_weight(options));
  torch::optim::SGD optimizer({model.W}, options.learning_rate);
  const Batch batch = create_batch(options);
  optimizer.zero_grad();
  (void)even_slice(options.global_batch_size, collectives.size(), 0, "global batch size");  // throws if uneven

  // BEGIN SOLUTION a4.data_parallel
  // STUB // TODO(a4.data_parallel): take this rank's slice of the batch (even_slice with collectives.rank() and
  // STUB // size()), forward, loss, backward; then make model.W.grad() the average over all ranks with one collective,
  // STUB // update, and return the weight.
  // STUB not_implemented("a4.data_parallel", model, optimizer, batch, collectives);
  const Slice slice =
      even_slice(options.global_batch_size, collectives.size(), collectives.rank(), "global batch size");
  const at::Tensor local_inputs = batch.inputs.narrow(0, slice.begin, slice.size);
  const at::Tensor local_targets = batch.targets.narrow(0, slice.begin, slice.size);

  const at::Tensor local_loss = torch::mse_loss(model.forward(local_inputs), local_targets);
  check(local_loss, {});
  local_loss.backward();

  collectives.all_reduce(model.W.grad());
  model.W.grad().div_(collectives.size());
  optimizer.step();
  return model.W.detach();
  // END SOLUTION a4.data_parallel
}

}  // namespace lab::a4
