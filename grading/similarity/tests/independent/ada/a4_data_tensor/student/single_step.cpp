#include "a4_data_tensor/single_step.h"

#include <torch/torch.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::a4 {

StepResult single_step(const StepOptions& options) {
  const at::Tensor initial = initial_weight(options);
  CustomLinearLayer model(initial);
  torch::optim::SGD optimizer({model.W}, options.learning_rate);

  Batch batch = create_batch(options);
  optimizer.zero_grad();
  at::Tensor prediction = model.forward(batch.inputs);
  at::Tensor loss = torch::mse_loss(prediction, batch.targets);
  loss.backward();
  optimizer.step();
  StepResult result;
  result.initial_weight = initial;
  result.updated_weight = model.W.detach();
  return result;
}

}  // namespace lab::a4
