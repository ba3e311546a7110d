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

  Slice mine = even_slice(options.global_batch_size, collectives.size(), collectives.rank(), "global batch size");
  at::Tensor x = batch.inputs.slice(0, mine.begin, mine.begin + mine.size);
  at::Tensor y = batch.targets.slice(0, mine.begin, mine.begin + mine.size);

  at::Tensor prediction = model.forward(x);
  at::Tensor loss = torch::mse_loss(prediction, y);
  loss.backward();

  at::Tensor grad = model.W.grad();
  collectives.all_reduce(grad);
  grad /= collectives.size();
  optimizer.step();
  return model.W.detach();
}

}  // namespace lab::a4
