#include "a5_pipeline/baseline.h"

namespace lab::a5 {

std::vector<at::Tensor> baseline_forward_backward(const Model& model, DataLoader& data,
                                                  const PipelineArguments& arguments) {
  std::vector<at::Tensor> outputs;
  int64_t n = arguments.number_of_micro_batches();
  for (int64_t i = 0; i < n; i++) {
    at::Tensor x = data.next().to(arguments.device);
    at::Tensor y = model.forward(x);
    at::Tensor loss = y.mean();
    loss.backward();
    outputs.push_back(y.detach());
  }
  return outputs;
}

}  // namespace lab::a5
