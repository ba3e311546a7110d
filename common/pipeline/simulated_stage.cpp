#include "common/pipeline/simulated_stage.h"

namespace lab::pipeline {

SimulatedStage::SimulatedStage(const Schedule& schedule, const Costs& costs, Endpoint& endpoint,
                               const at::Tensor& activation)
    : schedule_(schedule), costs_(costs), endpoint_(endpoint), activation_(activation) {}

at::Tensor SimulatedStage::forward(int chunk, int micro_batch, const at::Tensor&) {
  return work(Operation::kForward, chunk, micro_batch);
}

at::Tensor SimulatedStage::backward(int chunk, int micro_batch, const at::Tensor&) {
  return work(Operation::kBackward, chunk, micro_batch);
}

at::Tensor SimulatedStage::backward_input(int chunk, int micro_batch, const at::Tensor&) {
  return work(Operation::kBackwardInput, chunk, micro_batch);
}

void SimulatedStage::backward_weight(int chunk, int micro_batch) {
  work(Operation::kBackwardWeight, chunk, micro_batch);
}

at::Tensor SimulatedStage::work(Operation operation, int chunk, int micro_batch) {
  comm::Transport& transport = endpoint_.transport();
  const double start = transport.now();
  transport.pass_time(computation_seconds(costs_, operation, schedule_.find_stage(transport.rank(), chunk)));
  endpoint_.record_computation(short_name(schedule_, {operation, micro_batch, chunk}),
                               static_cast<std::uint64_t>(micro_batch), start);
  return at::empty_like(activation_);
}

}  // namespace lab::pipeline
