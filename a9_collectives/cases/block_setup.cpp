#include "a9_collectives/cases/block_setup.h"

#include <fmt/format.h>

#include <bitset>

#include "common/api/partition.h"
#include "common/tensor/seeded.h"

namespace lab::a9 {
namespace {

std::vector<CostBound> no_built_ins() {
  return {{"broadcast", 0}, {"all_reduce", 0}, {"all_gather", 0}, {"reduce_scatter", 0}, {"all_to_all", 0}};
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

CostBounds sums_by_any_means(const std::string& task, const TrafficOf& bound_traffic) {
  return [=](const CasePlace& place) {
    const Traffic traffic = bound_traffic(place.size);
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

CostBounds own_collectives(const std::string& task, const TrafficOf& bound_traffic) {
  return [=](const CasePlace& place) {
    std::vector<CostBound> bounds = no_built_ins();
    bounds.push_back(whole_traffic(task, bound_traffic(place.size), place.size));
    return bounds;
  };
}

std::function<ShareBound(const CasePlace&)> block_work(const BlockSizesOf& list_sizes, std::int64_t num_blocks) {
  return [=](const CasePlace& place) { return work_of_blocks(list_sizes(place.size), num_blocks, place); };
}

std::function<ShareBound(const CasePlace&)> block_and_gradient_work(const BlockSizesOf& list_sizes) {
  return [list_sizes](const CasePlace& place) {
    const BlockSizes sizes = list_sizes(place.size);
    ShareBound bound = work_of_blocks(sizes, 3, place);
    bound.most = work_of_blocks(sizes, 4, place).most;  // the forward pass may be recomputed
    const std::int64_t d = sizes.options.d_model, f = sizes.options.d_ff;
    bound.most += (place.size - 1) * (4 * d * d + 2 * d * f + 5 * d + f);
    return bound;
  };
}

namespace {

TransformerOptions two_heads_per_rank(int size) {
  return {6 * size, 2 * size, 10 * size};
}

std::int64_t choose_batch(int size) {
  return size % 2 == 0 ? 3 : 1;
}

std::uint64_t bytes_of_x(const Setup& setup) {
  return static_cast<std::uint64_t>(setup.batch * setup.sequence * setup.options.d_model) *
         c10::elementSize(setup.dtype);
}

}  // namespace

Setup tensor_parallel_setup(int) {
  return {{32, 4, 64}, 2, 5, at::kFloat};
}
Setup ulysses_setup(int) {
  return {{32, 4, 64}, 2, 8, at::kFloat};
}

Setup further_tensor_parallel_setup(int size) {
  return {two_heads_per_rank(size), choose_batch(size), 5, at::kDouble};
}
Setup further_ulysses_setup(int size) {
  return {two_heads_per_rank(size), choose_batch(size), 2 * size, at::kDouble};
}

at::Tensor take_part(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(dim), place.size, place.rank);
  return tensor.narrow(dim, slice.begin, slice.size).contiguous();
}

BlockData make_data(const Setup& setup, std::uint64_t seed) {
  BlockData data;
  data.weights = initial_weights(setup.options, seed, setup.dtype);
  // New LayerNorms are all 1 and 0: leaving one out, or swapping two, would go unnoticed.
  std::uint64_t offset = 1;
  for (const char* name : {"ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias"})
    data.weights[name] += 0.5 * seeded_randn({setup.options.d_model}, seed + offset++, setup.dtype);
  // Larger than new ones, so that attention differs from a plain mean.
  for (const char* name : {"q_proj", "k_proj"}) data.weights[name] *= 2;
  const std::vector<std::int64_t> shape = {setup.batch, setup.sequence, setup.options.d_model};
  data.x = seeded_randn(shape, seed + offset++, setup.dtype);
  data.grad_out = seeded_randn(shape, seed + offset++, setup.dtype);
  return data;
}

CaseInputs weight_inputs(const Setup& setup, const BlockData& data) {
  CaseInputs inputs;
  for (const auto& [name, tensor] : data.weights) inputs.tensors["weight." + name] = tensor;
  inputs.numbers = {{"d_model", static_cast<double>(setup.options.d_model)},
                    {"num_heads", static_cast<double>(setup.options.num_heads)},
                    {"d_ff", static_cast<double>(setup.options.d_ff)}};
  return inputs;
}

CaseInputs split_inputs(const Setup& setup, Split split, bool with_gradient, const CasePlace& place) {
  const BlockData data = make_data(setup, place.seed);
  const auto own = [&](const at::Tensor& tensor) {
    return split == Split::kSequence ? take_part(tensor, 1, place) : tensor;
  };
  CaseInputs inputs = weight_inputs(setup, data);
  inputs.tensors[split == Split::kSequence ? "input.x_shard" : "input.x"] = own(data.x);
  if (with_gradient) inputs.tensors["input.grad_out"] = own(data.grad_out);
  return inputs;
}

TensorMap take_shards(const TensorMap& whole, const CasePlace& place) {
  TensorMap shards;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "fc1", "fc1_bias"})
    shards[std::string(name) + "_shard"] = take_part(whole.at(name), 0, place);
  for (const char* name : {"o_proj", "fc2"}) shards[std::string(name) + "_shard"] = take_part(whole.at(name), 1, place);
  return shards;
}

Case block_case(const std::string& task, const std::string& name, const SetupOf& choose_setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  if (choose_setup(1).dtype == at::kDouble) result.tolerance.rtol = result.tolerance.atol = 1e-12;
  result.skip_reason = [choose_setup](int size) {
    const std::int64_t heads = choose_setup(size).options.num_heads;
    return heads % size == 0 ? "" : fmt::format("{} heads do not divide by {} ranks", heads, size);
  };
  return result;
}

std::uint64_t bytes_of_weights(const Setup& setup) {
  const std::int64_t d = setup.options.d_model, f = setup.options.d_ff;
  return static_cast<std::uint64_t>(4 * d * d + 2 * d * f + 5 * d + f) * c10::elementSize(setup.dtype);
}

Traffic bound_traffic(const Setup& setup, Split split, std::uint64_t num_passes, int size) {
  return split == Split::kSequence ? ulysses_traffic(bytes_of_x(setup), num_passes, size)
                                   : tensor_parallel_traffic(bytes_of_x(setup), num_passes);
}

BlockSizesOf list_sizes(const SetupOf& choose_setup) {
  return [choose_setup](int size) {
    const Setup setup = choose_setup(size);
    return BlockSizes{setup.options, setup.batch, setup.sequence};
  };
}

}  // namespace lab::a9
