#pragma once

#include "common/comm/messages/endpoint.h"
#include "common/pipeline/run_schedule.h"
#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// Work that takes time and computes nothing, for worlds with a simulated clock: tensors on the meta device.
class SimulatedStage : public StageWork {
 public:
  /// Computations take as long as `costs` says, and are traced.
  SimulatedStage(const Schedule& schedule, const Costs& costs, Endpoint& endpoint, const at::Tensor& activation);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  void backward_weight(int chunk, int micro_batch) override;

 private:
  at::Tensor work(Operation operation, int chunk, int micro_batch);

  const Schedule& schedule_;
  const Costs& costs_;
  Endpoint& endpoint_;
  at::Tensor activation_;
};

}  // namespace lab::pipeline
