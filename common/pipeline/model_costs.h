#pragma once

#include <cmath>
#include <vector>

#include "common/comm/messages/model_time.h"
#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// What each stage computes for one micro-batch, in floating-point operations.
struct StageWorkload {
  std::int64_t forward = 0;
  std::int64_t backward_input = 0;
  std::int64_t backward_weight = 0;
};

/// The costs in model time (comm/model_time.md) of messages of one size between stages.
inline Costs costs_in_model_time(const std::vector<StageWorkload>& stages, std::int64_t message_bytes,
                                 const comm::ModelRates& rates = {}) {
  const auto seconds = [](std::int64_t picoseconds) { return static_cast<double>(picoseconds) * 1e-12; };
  Costs costs;
  costs.forward_seconds.clear();
  costs.backward_input_seconds.clear();
  costs.backward_weight_seconds.clear();
  for (const StageWorkload& stage : stages) {
    costs.forward_seconds.push_back(seconds(stage.forward * rates.ps_per_flop));
    costs.backward_input_seconds.push_back(seconds(stage.backward_input * rates.ps_per_flop));
    costs.backward_weight_seconds.push_back(seconds(stage.backward_weight * rates.ps_per_flop));
  }
  costs.latency_seconds = seconds(rates.latency_ps + 2 * rates.overhead_ps);
  costs.seconds_per_byte = seconds(rates.ps_per_byte);
  costs.message_bytes = message_bytes;
  return costs;
}

/// The schedule's makespan with these costs, in picoseconds.
inline std::int64_t makespan_ps(const Schedule& schedule, const Costs& costs) {
  return std::llround(make_timeline(schedule, costs).makespan_seconds * 1e12);
}

}  // namespace lab::pipeline
