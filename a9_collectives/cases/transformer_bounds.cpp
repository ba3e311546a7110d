#include "a9_collectives/cases/transformer_bounds.h"

#include <bitset>

namespace lab::a9 {
namespace {

std::vector<CostBound> no_built_ins() {
  return {{"broadcast", 0},      {"all_reduce", 0}, {"all_gather", 0},
          {"reduce_scatter", 0}, {"all_to_all", 0}, {"barrier", 0}};
}

constexpr std::uint64_t kNotesBytes = 64;  // a few numbers for another rank: eight integers

CostBound at_most(const std::string& operation, std::uint64_t max_bytes_sent) {
  CostBound bound;
  bound.operation = operation;
  bound.max_bytes_sent = max_bytes_sent;
  return bound;
}

std::uint64_t others_than_one(int size) {
  return static_cast<std::uint64_t>(size - 1);
}

/// All that is summed and exchanged, under the name of one operation, or of all together.
CostBound whole_traffic(const std::string& operation, const Traffic& traffic, int size) {
  const std::uint64_t num_others = others_than_one(size);
  CostBound bound = at_most(operation, num_others * (traffic.bytes_summed + kNotesBytes) + traffic.most_exchanged);
  bound.min_bytes_received = num_others == 0 ? 0 : traffic.bytes_summed + traffic.bytes_exchanged;
  return bound;
}

ShareBound work_of_blocks(const BlockSizes& sizes, std::int64_t num_blocks, const CasePlace& place) {
  const std::int64_t d = sizes.options.d_model, f = sizes.options.d_ff, heads = sizes.options.num_heads;
  const std::int64_t positions = sizes.batch * sizes.sequence;
  const std::int64_t pairs = sizes.batch * sizes.sequence * sizes.sequence;
  const std::int64_t products = num_blocks * (2 * positions * (4 * d * d + 2 * d * f) + 4 * pairs * d);
  const std::int64_t per_element = num_blocks * (24 * positions * d + 8 * heads * pairs + 3 * positions * f);
  const std::int64_t own_sums = num_blocks * 2 * (place.size - 1) * positions * d;
  return {products + per_element, products / place.size + per_element + own_sums};
}

}  // namespace

CostBounds no_communication(const std::string& task) {
  std::vector<CostBound> bounds = no_built_ins();
  bounds.push_back({task, 0});
  return on_every_rank(bounds);
}

Traffic tensor_parallel_traffic(std::uint64_t bytes_of_x, std::uint64_t num_passes) {
  return {2 * num_passes * bytes_of_x, 0, 0};
}

Traffic all_to_all_traffic(std::uint64_t num_exchanges, std::uint64_t chunk_bytes, int size) {
  const auto num_ranks = static_cast<std::uint64_t>(size);
  // Bruck's algorithm sends what is for the rank at a distance once for each bit of the distance.
  std::uint64_t chunks_of_bruck = 0;
  for (std::uint64_t distance = 1; distance < num_ranks; ++distance)
    chunks_of_bruck += std::bitset<32>(distance).count();
  return {0, num_exchanges * (num_ranks - 1) * chunk_bytes, num_exchanges * chunks_of_bruck * chunk_bytes};
}

Traffic ulysses_traffic(std::uint64_t bytes_of_x, std::uint64_t num_passes, int size) {
  const auto num_ranks = static_cast<std::uint64_t>(size);
  return all_to_all_traffic(num_passes * 4, bytes_of_x / num_ranks / num_ranks, size);
}

CostBounds sums_by_any_means(const std::string& task, const TrafficOf& traffic_of) {
  return [=](const CasePlace& place) {
    const Traffic traffic = traffic_of(place.size);
    CostBound own = whole_traffic(task, traffic, place.size);
    own.min_bytes_received = traffic.bytes_exchanged;
    const std::uint64_t num_others = others_than_one(place.size), notes = num_others * kNotesBytes;
    // As the ledger counts a built-in all_reduce of n bytes: 2 (P-1)/P n.
    const std::uint64_t reduced = 2 * traffic.bytes_summed * num_others / (num_others + 1);
    return std::vector<CostBound>{own,
                                  at_most("all_reduce", reduced + notes),
                                  at_most("reduce_scatter", reduced),
                                  at_most("all_gather", num_others * traffic.bytes_summed + notes),
                                  {"broadcast", 0},
                                  {"all_to_all", 0},
                                  whole_traffic("", traffic, place.size)};
  };
}

CostBounds own_collectives(const std::string& task, const TrafficOf& traffic_of) {
  return [=](const CasePlace& place) {
    std::vector<CostBound> bounds = no_built_ins();
    bounds.push_back(whole_traffic(task, traffic_of(place.size), place.size));
    return bounds;
  };
}

std::function<ShareBound(const CasePlace&)> block_work(const BlockSizesOf& sizes_of, std::int64_t num_blocks) {
  return [=](const CasePlace& place) { return work_of_blocks(sizes_of(place.size), num_blocks, place); };
}

std::function<ShareBound(const CasePlace&)> block_and_gradient_work(const BlockSizesOf& sizes_of) {
  return [sizes_of](const CasePlace& place) {
    const BlockSizes sizes = sizes_of(place.size);
    ShareBound bound = work_of_blocks(sizes, 3, place);
    const std::int64_t d = sizes.options.d_model, f = sizes.options.d_ff;
    bound.most += (place.size - 1) * (4 * d * d + 2 * d * f + 5 * d + f);
    return bound;
  };
}

}  // namespace lab::a9
