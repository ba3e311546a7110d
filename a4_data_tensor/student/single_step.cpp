#include "a4_data_tensor/single_step.h"

#include <torch/torch.h>

#include "common/base/errors.h"
#include "common/tensor/shape_check.h"

namespace lab::a4 {

StepResult single_step(const StepOptions& options) {
  const at::Tensor initial = initial_weight(options);
  CustomLinearLayer model(initial);
  torch::optim::SGD optimizer({model.W}, options.learning_rate);

  // BEGIN SOLUTION a4.single_step
  // STUB // TODO(a4.single_step): draw the batch with create_batch(options), run the model on the inputs, take the mean
  // STUB // squared error against the targets (torch::mse_loss), clear the gradients, go backward, let the optimizer
  // STUB // update model.W, and return both weights. The initial one must be the weight from before the update.
  // STUB not_implemented("a4.single_step", initial, model, optimizer);
  const Batch batch = create_batch(options);
  check(batch.inputs, {options.global_batch_size, options.input_dim});
  check(batch.targets, {options.global_batch_size, options.output_dim});

  const at::Tensor outputs = model.forward(batch.inputs);
  const at::Tensor loss = torch::mse_loss(outputs, batch.targets);
  check(loss, {});

  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  return {initial, model.W.detach()};
  // END SOLUTION a4.single_step
}

}  // namespace lab::a4
