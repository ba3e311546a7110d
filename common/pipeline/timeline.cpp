#include "common/pipeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/errors.h"
#include "common/pipeline/deadlock.h"
#include "common/pipeline/validate.h"

namespace lab::pipeline {
namespace {

void check_not_negative(const char* what, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw ContractError(fmt::format("costs: expected {} of at least 0, got {:g}", what, value));
}

void check_per_stage(const char* what, const std::vector<double>& seconds, int num_stages) {
  for (const double value : seconds) check_not_negative(what, value);
  if (seconds.size() == 1 || seconds.size() == static_cast<std::size_t>(num_stages)) return;
  throw ContractError(fmt::format("costs: expected one value of {} for all stages or one for each of {}, got {} values",
                                  what, num_stages, seconds.size()));
}

void check_costs(const Costs& costs, int num_stages) {
  check_per_stage("forward_seconds", costs.forward_seconds, num_stages);
  check_per_stage("backward_input_seconds", costs.backward_input_seconds, num_stages);
  check_per_stage("backward_weight_seconds", costs.backward_weight_seconds, num_stages);
  check_not_negative("latency_seconds", costs.latency_seconds);
  check_not_negative("seconds_per_byte", costs.seconds_per_byte);
  check_not_negative("message_bytes", static_cast<double>(costs.message_bytes));
}

/// Counts in chunks, so that three thirds of a rank do not add up to slightly less than one.
double peak_live_activations(const std::vector<Span>& computations, int num_chunks) {
  int live_chunks = 0;
  int peak_chunks = 0;
  for (const Span& span : computations) {
    const Operation operation = span.action.operation;
    if (operation == Operation::kForward) peak_chunks = std::max(peak_chunks, ++live_chunks);
    if (operation == Operation::kBackward || operation == Operation::kBackwardWeight) --live_chunks;
  }
  return static_cast<double>(peak_chunks) / num_chunks;
}

}  // namespace

double Timeline::bubble_fraction() const {
  double busy = 0;
  for (const double seconds : busy_seconds) busy += seconds;
  const double all = makespan_seconds * static_cast<double>(busy_seconds.size());
  return all > 0 ? 1 - busy / all : 0;
}

Timeline make_timeline(const Schedule& schedule, const Costs& costs) {
  check_actions(schedule);
  check_costs(costs, schedule.num_stages());
  Replay played = replay(schedule, costs);
  check_no_deadlock(schedule, played);

  Timeline timeline;
  for (const std::vector<Span>& computations : played.computations) {
    double busy = 0;
    for (const Span& span : computations) busy += span.end_seconds - span.start_seconds;
    timeline.busy_seconds.push_back(busy);
    timeline.peak_live_activations.push_back(peak_live_activations(computations, schedule.num_chunks));
    timeline.makespan_seconds = std::max(timeline.makespan_seconds, computations.back().end_seconds);
    timeline.computations.insert(timeline.computations.end(), computations.begin(), computations.end());
  }
  timeline.messages = std::move(played.messages);
  for (const Span& message : timeline.messages) {
    Link& link = timeline.links[{message.rank, peer_rank(schedule, message.rank, message.action)}];
    ++link.messages;
    link.bytes += costs.message_bytes;
  }
  return timeline;
}

}  // namespace lab::pipeline
