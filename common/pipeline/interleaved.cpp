#include <algorithm>

#include "common/pipeline/orders.h"

namespace lab::pipeline {

// A group of p micro-batches goes through chunk 0, then through chunk 1, and so on; then the next group begins. When
// its last member has left a chunk on rank 0, its first one is back from the last rank and wants the next chunk.
std::vector<Action> interleaved(const ScheduleOptions& options, int rank) {
  const int p = options.num_ranks;
  const int v = options.num_chunks;
  const int total = options.num_micro_batches * v;
  std::vector<Action> forwards, backwards;
  for (int k = 0; k < total; ++k) {
    const int chunk = k / p % v;
    const int micro_batch = k / (p * v) * p + k % p;
    forwards.push_back({Operation::kForward, micro_batch, chunk});
    backwards.push_back({Operation::kBackward, micro_batch, v - 1 - chunk});
  }
  // The first group through the first v-1 chunks; then, as each backward pass takes its way through the ranks in two
  // forward passes' time, twice what plain 1F1B begins with.
  const int warm_up = std::min(total, 2 * (p - 1 - rank) + (v - 1) * p);
  return warm_up_then_alternate(warm_up, forwards, backwards);
}

}  // namespace lab::pipeline
