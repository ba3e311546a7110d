#include "a4_data_tensor/accumulation.h"

#include <torch/torch.h>

#include "common/base/errors.h"
#include "common/tensor/partition.h"
#include "common/tensor/shape_check.h"

namespace lab::a4 {

at::Tensor single_step_with_grad_accumulation(const StepOptions& options, std::int64_t accumulation_steps) {
  CustomLinearLayer model(initial_weight(options));
  torch::optim::SGD optimizer({model.W}, options.learning_rate);
  const Batch batch = create_batch(options);
  optimizer.zero_grad();
  (void)even_slice(options.global_batch_size, accumulation_steps, 0, "global batch size");  // throws if uneven

  // BEGIN SOLUTION a4.accumulation
  // STUB // TODO(a4.accumulation): for each of accumulation_steps equal slices of the batch (even_slice,
  // STUB // Tensor::narrow): forward, mean squared error, scale the loss so that the sum of the gradients is the
  // STUB // gradient of the whole batch, backward. Then update once and return the weight, detached.
  // STUB not_implemented("a4.accumulation", model, optimizer, batch, accumulation_steps);
  for (std::int64_t i = 0; i < accumulation_steps; ++i) {
    const Slice slice = even_slice(options.global_batch_size, accumulation_steps, i, "global batch size");
    const at::Tensor micro_inputs = batch.inputs.narrow(0, slice.begin, slice.size);
    const at::Tensor micro_targets = batch.targets.narrow(0, slice.begin, slice.size);
    check(micro_inputs, {slice.size, options.input_dim});

    const at::Tensor micro_loss = torch::mse_loss(model.forward(micro_inputs), micro_targets);
    check(micro_loss, {});
    // Dividing before the sum keeps the addends small.
    (micro_loss / static_cast<double>(accumulation_steps)).backward();
  }
  optimizer.step();
  return model.W.detach();
  // END SOLUTION a4.accumulation
}

}  // namespace lab::a4
