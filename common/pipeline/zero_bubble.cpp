#include <algorithm>

#include "common/pipeline/orders.h"

namespace lab::pipeline {

// Nobody waits for the weights' gradients, so rank r computes each of them r micro-batches late and has r of them left
// for the drain, where 1F1B would idle. Putting off keeps activations alive: r micro-batches more than 1F1B's p-r, so
// every rank holds p, which is what 1F1B's rank 0 holds. With all times 1 the makespan is 3m + p-1; with m < p the
// first micro-batch's way there and back leaves gaps that nothing can fill, and it is 2m + 2p-1.
std::vector<Action> zero_bubble(const ScheduleOptions& options, int rank) {
  const int m = options.num_micro_batches;
  const int warm_up = std::min(m, options.num_ranks - rank);
  std::vector<Action> order;
  for (int i = 0; i < warm_up; ++i) order.push_back({Operation::kForward, i});
  for (int i = 0; i < m; ++i) {
    order.push_back({Operation::kBackwardInput, i});
    if (i >= rank) order.push_back({Operation::kBackwardWeight, i - rank});
    if (warm_up + i < m) order.push_back({Operation::kForward, warm_up + i});
  }
  for (int i = std::max(0, m - rank); i < m; ++i) order.push_back({Operation::kBackwardWeight, i});
  return order;
}

}  // namespace lab::pipeline
