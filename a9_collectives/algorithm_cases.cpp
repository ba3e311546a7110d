#include "a9_collectives/algorithm_cases.h"

#include "a9_collectives/broadcast.h"
#include "a9_collectives/case_builders.h"
#include "a9_collectives/chunks.h"

namespace lab::a9 {
namespace {

std::uint64_t down(int size) {
  return static_cast<std::uint64_t>(floor_lg(size));
}
std::uint64_t up(int size) {
  return static_cast<std::uint64_t>(ceil_lg(size));
}
/// Rounds of an algorithm that doubles, with its detour where the world size is no power of two.
std::uint64_t doubling_rounds(int size) {
  return down(size) + (size == floor_power_of_two(size) ? 0 : 2);
}

/// Bytes that the ring sends from this rank: twice the row without two chunks, which end here.
std::uint64_t ring_bytes(const CasePlace& place, std::int64_t num_elements, std::int64_t element_bytes) {
  const Chunks chunks(at::empty({num_elements}, at::kByte), place.size);
  const std::int64_t left_out =
      chunks.chunk((place.rank + 1) % place.size).numel() + chunks.chunk((place.rank + 2) % place.size).numel();
  return place.size == 1 ? 0 : static_cast<std::uint64_t>((2 * num_elements - left_out) * element_bytes);
}

using Count = std::uint64_t (*)(int size);

Limit at_most_rounds(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) { bound.max_rounds = rounds(place.size); };
}

/// Doubling sends one message a round; a rank that has another's data besides, one more.
Limit doubles(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = bound.max_messages = rounds(place.size);
  };
}

/// One message a round, never two under way; in so many rounds and no fewer.
Limit one_by_one(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.min_rounds = bound.max_messages = rounds(place.size);
  };
}

/// All messages of so many phases at once.
Limit at_once(std::uint64_t phases) {
  return [phases](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = phases;
    bound.min_messages = phases * static_cast<std::uint64_t>(place.size - 1);
  };
}

std::uint64_t one_pass(int size) {
  return static_cast<std::uint64_t>(size - 1);
}
std::uint64_t two_passes(int size) {
  return 2 * one_pass(size);
}

}  // namespace

std::vector<Case> algorithm_cases() {
  const auto row = exact({1001}, at::kFloat, 20);  // 4004 bytes, which few world sizes divide
  const auto rows = exact({-101}, at::kFloat, 21);
  return {
      broadcast_case("a9.broadcast_binomial", "BroadcastBinomial", row, last_rank, at_most_rounds(up)),
      broadcast_case("a9.broadcast_chain", "BroadcastChain", exact({kLongElements}, at::kFloat, 22), last_rank,
                     [](const CasePlace& place, CostBound& bound) {
                       bound.max_bytes_sent = kLongElements * 4;
                       bound.max_rounds =
                           static_cast<std::uint64_t>(place.size - 2 + broadcast_chain_segments(kLongElements * 4));
                     }),
      allreduce_case("a9.allreduce_recursive_doubling", "AllReduceRecursiveDoubling", row, doubles(doubling_rounds)),
      allreduce_case("a9.allreduce_ring", "AllReduceRing", row,
                     [](const CasePlace& place, CostBound& bound) {
                       one_by_one(two_passes)(place, bound);
                       bound.max_bytes_sent = ring_bytes(place, 1001, 4);
                     }),
      allreduce_case("a9.allreduce_rabenseifner", "AllReduceRabenseifner", row,
                     [](const CasePlace& place, CostBound& bound) {
                       bound.max_rounds = bound.max_messages = doubling_rounds(place.size) + down(place.size);
                       const auto power = static_cast<std::uint64_t>(floor_power_of_two(place.size));
                       // 2 (p-1)/p n, the longest chunks; n more for a rank that has another's data besides.
                       bound.max_bytes_sent = 2 * (power - 1) * ((1001 + power - 1) / power) * 4;
                       if (place.size != floor_power_of_two(place.size)) bound.max_bytes_sent += 4004;
                     }),
      allreduce_case("a9.allreduce_direct", "AllReduceDirect", row, at_once(2)),
      allgather_case("a9.allgather_ring", "AllGatherRing", row, one_by_one(one_pass)),
      allgather_case("a9.allgather_recursive_doubling", "AllGatherRecursiveDoubling", row, doubles(doubling_rounds)),
      allgather_case("a9.allgather_bruck", "AllGatherBruck", row, doubles(up)),
      allgather_case("a9.allgather_direct", "AllGatherDirect", row, at_once(1)),
      reduce_scatter_case("a9.reduce_scatter_ring", "ReduceScatterRing", rows, one_by_one(one_pass)),
      reduce_scatter_case("a9.reduce_scatter_recursive_halving", "ReduceScatterRecursiveHalving", rows,
                          doubles(doubling_rounds)),
      all_to_all_case("a9.all_to_all_pairwise", "AllToAllPairwise", exact({-2, 3, 101}, at::kFloat, 23), 0, 2,
                      one_by_one(one_pass)),
  };
}

}  // namespace lab::a9
