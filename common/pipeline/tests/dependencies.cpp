#include "common/pipeline/tests/dependencies.h"

#include <algorithm>
#include <optional>

namespace lab::pipeline {
namespace {

/// When the data of a stage and a micro-batch are available.
class Times {
 public:
  explicit Times(const Schedule& schedule) : schedule_(schedule) {
    at_.resize(static_cast<std::size_t>(schedule.num_stages()) * static_cast<std::size_t>(schedule.num_micro_batches));
  }

  std::optional<double>& operator()(int stage, int micro_batch) {
    return at_[static_cast<std::size_t>(stage * schedule_.num_micro_batches + micro_batch)];
  }

 private:
  const Schedule& schedule_;
  std::vector<std::optional<double>> at_;
};

bool gives_input_gradient(Operation operation) {
  return operation == Operation::kBackward || operation == Operation::kBackwardInput;
}

}  // namespace

double makespan_of_dependencies(const Schedule& schedule, const Costs& costs) {
  Times output(schedule), input_gradient(schedule);
  std::vector<std::size_t> next(schedule.ranks.size());
  std::vector<double> now(schedule.ranks.size());
  // When it can begin; nullopt while that is unknown.
  const auto ready = [&](const Action& action, int stage) -> std::optional<double> {
    if (action.operation == Operation::kForward && stage > 0) return output(stage - 1, action.micro_batch);
    if (gives_input_gradient(action.operation) && stage + 1 < schedule.num_stages()) {
      return input_gradient(stage + 1, action.micro_batch);
    }
    return 0;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      for (; next[rank] < schedule.ranks[rank].size(); ++next[rank]) {
        const Action& action = schedule.ranks[rank][next[rank]];
        if (is_message(action.operation)) continue;
        const int stage = schedule.find_stage(static_cast<int>(rank), action.chunk);
        const auto begin = ready(action, stage);
        if (!begin) break;
        now[rank] = std::max(now[rank], *begin) + computation_seconds(costs, action.operation, stage);
        if (action.operation == Operation::kForward) output(stage, action.micro_batch) = now[rank];
        if (gives_input_gradient(action.operation)) input_gradient(stage, action.micro_batch) = now[rank];
        progress = true;
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

bool in_right_order(const Schedule& schedule, const Timeline& timeline) {
  Times output(schedule), input_gradient(schedule), weight_gradient(schedule);
  for (const Span& span : timeline.computations) {
    const int stage = schedule.find_stage(span.rank, span.action.chunk);
    const auto once = [&](Times& times) {
      auto& time = times(stage, span.action.micro_batch);
      const bool first = !time.has_value();
      time = span.end_seconds;
      return first;
    };
    const Operation operation = span.action.operation;
    if (operation == Operation::kForward && !once(output)) return false;
    if (gives_input_gradient(operation) && !once(input_gradient)) return false;
    if ((operation == Operation::kBackward || operation == Operation::kBackwardWeight) && !once(weight_gradient)) {
      return false;
    }
  }
  for (const Span& span : timeline.computations) {
    const int stage = schedule.find_stage(span.rank, span.action.chunk);
    const auto not_before = [&](Times& times, int of_stage) {
      const auto time = times(of_stage, span.action.micro_batch);
      return time && span.start_seconds >= *time;
    };
    const Operation operation = span.action.operation;
    if (operation == Operation::kForward && stage > 0 && !not_before(output, stage - 1)) return false;
    if (operation != Operation::kForward && !not_before(output, stage)) return false;
    if (operation == Operation::kBackwardWeight && !not_before(input_gradient, stage)) return false;
    if (gives_input_gradient(operation) && stage + 1 < schedule.num_stages() &&
        !not_before(input_gradient, stage + 1)) {
      return false;
    }
  }
  for (int stage = 0; stage < schedule.num_stages(); ++stage) {
    for (int i = 0; i < schedule.num_micro_batches; ++i) {
      if (!output(stage, i) || !input_gradient(stage, i) || !weight_gradient(stage, i)) return false;
    }
  }
  return true;
}

}  // namespace lab::pipeline
