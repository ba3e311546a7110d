#include "common/pipeline/orders.h"

#include <algorithm>

namespace lab::pipeline {
namespace {

std::vector<Action> one_for_each_micro_batch(Operation operation, const ScheduleOptions& options) {
  std::vector<Action> actions;
  for (int i = 0; i < options.num_micro_batches; ++i) actions.push_back({operation, i});
  return actions;
}

}  // namespace

std::vector<Action> warm_up_then_alternate(int count, const std::vector<Action>& forwards,
                                           const std::vector<Action>& backwards) {
  std::vector<Action> order(forwards.begin(), forwards.begin() + count);
  auto backward = backwards.begin();
  for (auto forward = forwards.begin() + count; forward != forwards.end(); ++forward) {
    order.push_back(*forward);
    order.push_back(*backward++);
  }
  order.insert(order.end(), backward, backwards.end());
  return order;
}

std::vector<Action> all_forward_all_backward(const ScheduleOptions& options, int /*rank*/) {
  return warm_up_then_alternate(options.num_micro_batches, one_for_each_micro_batch(Operation::kForward, options),
                                one_for_each_micro_batch(Operation::kBackward, options));
}

std::vector<Action> one_forward_one_backward(const ScheduleOptions& options, int rank) {
  // Micro-batch 0 has p-1-r stages before it until it comes back; meanwhile there is time for so many forward passes.
  const int warm_up = std::min(options.num_micro_batches, options.num_ranks - 1 - rank);
  return warm_up_then_alternate(warm_up, one_for_each_micro_batch(Operation::kForward, options),
                                one_for_each_micro_batch(Operation::kBackward, options));
}

}  // namespace lab::pipeline
