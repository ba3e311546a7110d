#include "a4_data_tensor/data_parallel.h"

#include <torch/torch.h>

#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

namespace lab::a4 {

at::Tensor data_parallel_single_step(const StepOptions& options, Collectives& collectives) {
  // The same seed on every rank gives the same weight and the same batch, of which this rank takes its slice.
  CustomLinearLayer model(initial_weight(options));
  torch::optim::SGD optimizer({model.W}, options.learning_rate);
  const Batch batch = create_batch(options);
  optimizer.zero_grad();
  (void)even_slice(options.global_batch_size, collectives.size(), 0, "global batch size");  // throws if uneven

  const int world = collectives.size();
  const std::int64_t per_rank = options.global_batch_size / world;
  const std::int64_t offset = per_rank * collectives.rank();
  auto out = model.forward(batch.inputs.narrow(0, offset, per_rank));
  auto loss = torch::mse_loss(out, batch.targets.narrow(0, offset, per_rank));
  loss.backward();
  // the mean of the ranks' gradients is the gradient of the whole batch
  auto& g = model.W.mutable_grad();
  g.div_(world);
  collectives.all_reduce(g);
  optimizer.step();
  return model.W.detach();
}

}  // namespace lab::a4
