#include "a9_collectives/cases/block_setup.h"

#include <fmt/format.h>

#include "common/tensor/partition.h"
#include "common/tensor/seeded.h"

namespace lab::a9 {
namespace {

TransformerOptions two_heads_per_rank(int size) {
  return {6 * size, 2 * size, 10 * size};
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
  return {two_heads_per_rank(size), 3, 5, at::kDouble};
}
Setup further_ulysses_setup(int size) {
  return {two_heads_per_rank(size), 3, 2 * size, at::kDouble};
}

at::Tensor part_of(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(dim), place.size, place.rank);
  return tensor.narrow(dim, slice.begin, slice.size).contiguous();
}

BlockData data_of(const Setup& setup, std::uint64_t seed) {
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
  const BlockData data = data_of(setup, place.seed);
  const auto own = [&](const at::Tensor& tensor) {
    return split == Split::kSequence ? part_of(tensor, 1, place) : tensor;
  };
  CaseInputs inputs = weight_inputs(setup, data);
  inputs.tensors[split == Split::kSequence ? "input.x_shard" : "input.x"] = own(data.x);
  if (with_gradient) inputs.tensors["input.grad_out"] = own(data.grad_out);
  return inputs;
}

TensorMap shards_of(const TensorMap& whole, const CasePlace& place) {
  TensorMap shards;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "fc1", "fc1_bias"})
    shards[std::string(name) + "_shard"] = part_of(whole.at(name), 0, place);
  for (const char* name : {"o_proj", "fc2"}) shards[std::string(name) + "_shard"] = part_of(whole.at(name), 1, place);
  return shards;
}

Case block_case(const std::string& task, const std::string& name, const SetupOf& setup_of) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  if (setup_of(1).dtype == at::kDouble) result.tolerance.rtol = result.tolerance.atol = 1e-12;
  result.skip_reason = [setup_of](int size) {
    const std::int64_t heads = setup_of(size).options.num_heads;
    return heads % size == 0 ? "" : fmt::format("{} heads do not divide by {} ranks", heads, size);
  };
  return result;
}

std::uint64_t bytes_of_weights(const Setup& setup) {
  const std::int64_t d = setup.options.d_model, f = setup.options.d_ff;
  return static_cast<std::uint64_t>(4 * d * d + 2 * d * f + 5 * d + f) * c10::elementSize(setup.dtype);
}

Traffic traffic_of(const Setup& setup, Split split, std::uint64_t num_passes, int size) {
  return split == Split::kSequence ? ulysses_traffic(bytes_of_x(setup), num_passes, size)
                                   : tensor_parallel_traffic(bytes_of_x(setup), num_passes);
}

BlockSizesOf sizes_of(const SetupOf& setup_of) {
  return [setup_of](int size) {
    const Setup setup = setup_of(size);
    return BlockSizes{setup.options, setup.batch, setup.sequence};
  };
}

}  // namespace lab::a9
