#include "common/pipeline/timeline.h"

namespace lab::pipeline {
namespace {

double of_stage(const std::vector<double>& seconds, int stage) {
  return seconds.size() == 1 ? seconds.front() : seconds[static_cast<std::size_t>(stage)];
}

}  // namespace

Costs even_costs(const Schedule& schedule, double forward_seconds, double backward_input_seconds,
                 double backward_weight_seconds) {
  Costs costs;
  costs.forward_seconds = {forward_seconds / schedule.num_chunks};
  costs.backward_input_seconds = {backward_input_seconds / schedule.num_chunks};
  costs.backward_weight_seconds = {backward_weight_seconds / schedule.num_chunks};
  return costs;
}

double computation_seconds(const Costs& costs, Operation operation, int stage) {
  const double input_seconds = of_stage(costs.backward_input_seconds, stage);
  const double weight_seconds = of_stage(costs.backward_weight_seconds, stage);
  switch (operation) {
    case Operation::kForward: return of_stage(costs.forward_seconds, stage);
    case Operation::kBackwardInput: return input_seconds;
    case Operation::kBackwardWeight: return weight_seconds;
    default: return input_seconds + weight_seconds;
  }
}

}  // namespace lab::pipeline
