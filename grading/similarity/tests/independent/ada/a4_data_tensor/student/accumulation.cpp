#include "a4_data_tensor/accumulation.h"

#include <torch/torch.h>

#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

namespace lab::a4 {

at::Tensor single_step_with_grad_accumulation(const StepOptions& options, std::int64_t accumulation_steps) {
  CustomLinearLayer model(initial_weight(options));
  torch::optim::SGD optimizer({model.W}, options.learning_rate);
  const Batch batch = create_batch(options);
  optimizer.zero_grad();
  (void)even_slice(options.global_batch_size, accumulation_steps, 0, "global batch size");  // throws if uneven

  const std::int64_t micro = options.global_batch_size / accumulation_steps;
  std::vector<at::Tensor> xs = batch.inputs.split(micro);
  std::vector<at::Tensor> ys = batch.targets.split(micro);
  for (size_t step = 0; step < xs.size(); step++) {
    at::Tensor prediction = model.forward(xs[step]);
    at::Tensor loss = torch::mse_loss(prediction, ys[step]);
    loss = loss / accumulation_steps;  // gradients add up
    loss.backward();
  }
  optimizer.step();
  return model.W.detach();
}

}  // namespace lab::a4
