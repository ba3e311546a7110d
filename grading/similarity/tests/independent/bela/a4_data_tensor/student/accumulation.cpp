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

  for (std::int64_t k = 0; k < accumulation_steps; ++k) {
    // part k of the batch
    const Slice part = even_slice(options.global_batch_size, accumulation_steps, k, "global batch size");
    auto out = model.forward(batch.inputs.narrow(0, part.begin, part.size));
    auto target = batch.targets.narrow(0, part.begin, part.size);
    auto loss = torch::mse_loss(out, target).mul(1.0 / accumulation_steps);
    loss.backward();
  }
  optimizer.step();
  return model.W.detach();
}

}  // namespace lab::a4
