#include "a4_data_tensor/single_step.h"

#include <torch/torch.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::a4 {

StepResult single_step(const StepOptions& options) {
  const at::Tensor initial = initial_weight(options);
  CustomLinearLayer model(initial);
  torch::optim::SGD optimizer({model.W}, options.learning_rate);

  const auto batch = create_batch(options);
  const auto out = model.forward(batch.inputs);
  const auto loss = torch::mse_loss(out, batch.targets);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  return StepResult{initial, model.W.detach().clone()};
}

}  // namespace lab::a4
