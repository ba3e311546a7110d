#include "a9_collectives/costs.h"

#include <algorithm>

#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"

namespace lab::a9 {
namespace {

/// `steps` of an n-th part each.
Cost steps_of(double steps, double bytes_per_step) {
  return {steps, steps * bytes_per_step};
}

/// Recursive doubling all-gather, which is recursive halving reduce-scatter run backwards.
Cost doubling(double num_bytes, int num_ranks) {
  const int power = floor_power_of_two(num_ranks);
  const int aside = num_ranks - power;
  if (aside == 0) return {static_cast<double>(floor_lg(num_ranks)), share_of_others(num_ranks) * num_bytes};
  double parts = 1 + num_ranks;  // handed over before, and the whole given back after
  for (int held = 1; held < power; held *= 2) parts += held + std::min(aside, held);
  return {2.0 + floor_lg(num_ranks), parts / num_ranks * num_bytes};
}

}  // namespace

double share_of_others(int num_ranks) {
  return (num_ranks - 1.0) / num_ranks;
}

Cost cost_broadcast_flat(double num_bytes, int num_ranks) {
  return steps_of(num_ranks - 1, num_bytes);
}
Cost cost_broadcast_binomial(double num_bytes, int num_ranks) {
  return steps_of(ceil_lg(num_ranks), num_bytes);
}
Cost cost_broadcast_chain(double num_bytes, int num_ranks) {
  if (num_ranks == 1) return {};
  const auto segments = static_cast<double>(broadcast_chain_segments(static_cast<std::int64_t>(num_bytes)));
  return steps_of(num_ranks - 2 + segments, num_bytes / segments);
}

Cost cost_allreduce_gather_broadcast(double num_bytes, int num_ranks) {
  return steps_of(2 * (num_ranks - 1), num_bytes);
}
Cost cost_allreduce_recursive_doubling(double num_bytes, int num_ranks) {
  return steps_of(floor_lg(num_ranks) + (num_ranks == floor_power_of_two(num_ranks) ? 0 : 2), num_bytes);
}
Cost cost_allreduce_ring(double num_bytes, int num_ranks) {
  return steps_of(2 * (num_ranks - 1), num_bytes / num_ranks);
}
Cost cost_allreduce_rabenseifner(double num_bytes, int num_ranks) {
  const int power = floor_power_of_two(num_ranks);
  const Cost inner = {2.0 * floor_lg(num_ranks), 2 * share_of_others(power) * num_bytes};
  if (power == num_ranks) return inner;
  return {inner.steps + 2, inner.path_bytes + 2 * num_bytes};
}
Cost cost_allreduce_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{2, 2 * share_of_others(num_ranks) * num_bytes};
}

Cost cost_allgather_through_root(double num_bytes, int num_ranks) {
  return {2.0 * (num_ranks - 1), (num_ranks - 1) * (1 + 1.0 / num_ranks) * num_bytes};
}
Cost cost_allgather_ring(double num_bytes, int num_ranks) {
  return steps_of(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_allgather_recursive_doubling(double num_bytes, int num_ranks) {
  return doubling(num_bytes, num_ranks);
}
Cost cost_allgather_bruck(double num_bytes, int num_ranks) {
  return {static_cast<double>(ceil_lg(num_ranks)), share_of_others(num_ranks) * num_bytes};
}
Cost cost_allgather_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{1, share_of_others(num_ranks) * num_bytes};
}

Cost cost_reduce_scatter_pairwise(double num_bytes, int num_ranks) {
  return steps_of(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_reduce_scatter_ring(double num_bytes, int num_ranks) {
  return steps_of(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_reduce_scatter_recursive_halving(double num_bytes, int num_ranks) {
  return doubling(num_bytes, num_ranks);
}

Cost cost_all_to_all_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{1, share_of_others(num_ranks) * num_bytes};
}
Cost cost_all_to_all_pairwise(double num_bytes, int num_ranks) {
  return steps_of(num_ranks - 1, num_bytes / num_ranks);
}

}  // namespace lab::a9
