#include <fmt/format.h>

#include "a9_collectives/cases/cases.h"
#include "a9_collectives/cases/transformer_bounds.h"
#include "a9_collectives/transformer.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/partition.h"
#include "common/tensor/seeded.h"

namespace lab::a9 {
namespace {

struct Setup {
  TransformerOptions options;
  std::int64_t batch = 2;
  std::int64_t sequence = 5;
  at::ScalarType dtype = at::kFloat;
};

// The handout's; and ones that divide by 8 ranks, in float64 with a tolerance of 1e-12.
const Setup kTensorParallel = {{32, 4, 64}, 2, 5, at::kFloat};
const Setup kUlysses = {{32, 4, 64}, 2, 8, at::kFloat};
const Setup kTensorParallel8 = {{32, 8, 64}, 3, 7, at::kDouble};
const Setup kUlysses8 = {{32, 8, 64}, 3, 16, at::kDouble};

enum class Split { kWeights, kSequence };

at::Tensor part_of(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(dim), place.size, place.rank);
  return tensor.narrow(dim, slice.begin, slice.size).contiguous();
}

/// The same on every rank.
struct Data {
  TensorMap weights;
  at::Tensor x, grad_out;
};

Data data_of(const Setup& setup, std::uint64_t seed) {
  Data data;
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

CaseInputs inputs_of(const Setup& setup, const Data& data) {
  CaseInputs inputs;
  for (const auto& [name, tensor] : data.weights) inputs.tensors["weight." + name] = tensor;
  inputs.numbers = {{"d_model", static_cast<double>(setup.options.d_model)},
                    {"num_heads", static_cast<double>(setup.options.num_heads)},
                    {"d_ff", static_cast<double>(setup.options.d_ff)}};
  return inputs;
}

CaseInputs split_inputs(const Setup& setup, Split split, bool with_gradient, const CasePlace& place) {
  const Data data = data_of(setup, place.seed);
  const auto own = [&](const at::Tensor& tensor) {
    return split == Split::kSequence ? part_of(tensor, 1, place) : tensor;
  };
  CaseInputs inputs = inputs_of(setup, data);
  inputs.tensors[split == Split::kSequence ? "input.x_shard" : "input.x"] = own(data.x);
  if (with_gradient) inputs.tensors["input.grad_out"] = own(data.grad_out);
  return inputs;
}

at::Tensor serial_out(const Setup& setup, const Data& data) {
  return BasicTransformerBlock(setup.options, data.weights).forward(data.x).detach();
}

/// This rank's rows of the column-parallel weights (or their gradients), its columns of the row-parallel ones.
TensorMap shards_of(const TensorMap& whole, const CasePlace& place) {
  TensorMap shards;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "fc1", "fc1_bias"})
    shards[std::string(name) + "_shard"] = part_of(whole.at(name), 0, place);
  for (const char* name : {"o_proj", "fc2"}) shards[std::string(name) + "_shard"] = part_of(whole.at(name), 1, place);
  return shards;
}

/// A case that runs on any number of ranks that divides the heads.
Case block_case(const std::string& task, const std::string& name, const Setup& setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  if (setup.dtype == at::kDouble) result.tolerance.rtol = result.tolerance.atol = 1e-12;
  const std::int64_t heads = setup.options.num_heads;
  result.skip_reason = [heads](int size) {
    return heads % size == 0 ? "" : fmt::format("{} heads do not divide by {} ranks", heads, size);
  };
  return result;
}

std::uint64_t bytes_of_x(const Setup& setup) {
  return static_cast<std::uint64_t>(setup.batch * setup.sequence * setup.options.d_model) *
         c10::elementSize(setup.dtype);
}

BlockSizes sizes_of(const Setup& setup) {
  return {setup.options, setup.batch, setup.sequence};
}

Case shards_case(const Setup& setup) {
  Case result = block_case("a9.tensor_parallel_shards", "TensorParallelShards", setup);
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [setup](const CasePlace& place) { return inputs_of(setup, data_of(setup, place.seed)); };
  result.expected = [setup](const CasePlace& place) { return shards_of(data_of(setup, place.seed).weights, place); };
  result.bounds = no_communication(result.task);
  return result;
}

Case forward_case(const std::string& task, const std::string& name, const Setup& setup, Split split) {
  Case result = block_case(task, name, setup);
  result.inputs = [setup, split](const CasePlace& place) { return split_inputs(setup, split, false, place); };
  result.expected = [setup, split](const CasePlace& place) {
    const at::Tensor out = serial_out(setup, data_of(setup, place.seed));
    return TensorMap{{"out", split == Split::kSequence ? part_of(out, 1, place) : out}};
  };
  result.bounds = split == Split::kSequence ? ulysses_bounds(task, bytes_of_x(setup))
                                            : tensor_parallel_bounds(task, bytes_of_x(setup), 1);
  result.work = block_work(sizes_of(setup), 1);
  return result;
}

Case design_case(const Setup& setup) {
  Case result = block_case("a9.design", "OwnCollectives", setup);
  result.inputs = [setup](const CasePlace& place) {
    CaseInputs inputs = split_inputs(setup, Split::kWeights, false, place);
    inputs.tensors["input.x_shard"] = part_of(inputs.tensor("input.x"), 1, place);
    return inputs;
  };
  result.expected = [setup](const CasePlace& place) {
    const at::Tensor out = serial_out(setup, data_of(setup, place.seed));
    return TensorMap{{"tensor_parallel", out}, {"ulysses", part_of(out, 1, place)}};
  };
  result.bounds = design_bounds(result.task, bytes_of_x(setup));
  result.work = block_work(sizes_of(setup), 2);
  return result;
}

/// Forward and backward of the serial block: "out", "x.grad" and "<weight>.grad", all whole.
TensorMap serial_gradients(const Setup& setup, const Data& data) {
  const BasicTransformerBlock block(setup.options, data.weights);
  const at::Tensor x = data.x.clone().requires_grad_();
  const at::Tensor out = block.forward(x);
  out.backward(data.grad_out);
  TensorMap results = {{"out", out.detach()}, {"x", x.grad()}};
  for (const auto& [name, weight] : block.weights()) results[name] = weight.grad();
  return results;
}

TensorMap tensor_parallel_gradients(const Setup& setup, const CasePlace& place) {
  const TensorMap serial = serial_gradients(setup, data_of(setup, place.seed));
  TensorMap expected = {{"out", serial.at("out")}, {"x.grad", serial.at("x")}};
  for (const char* name : {"ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias", "fc2_bias"})
    expected[std::string(name) + ".grad"] = serial.at(name);
  for (const auto& [name, shard] : shards_of(serial, place)) expected[name + ".grad"] = shard;
  return expected;
}

TensorMap ulysses_gradients(const Setup& setup, const CasePlace& place) {
  const TensorMap serial = serial_gradients(setup, data_of(setup, place.seed));
  TensorMap expected = {{"out", part_of(serial.at("out"), 1, place)},
                        {"x_shard.grad", part_of(serial.at("x"), 1, place)}};
  for (const auto& [name, gradient] : serial) {
    if (name != "out" && name != "x") expected[name + ".grad"] = gradient;
  }
  return expected;
}

Case gradient_case(const std::string& name, const Setup& setup, Split split) {
  Case result = block_case("a9.parallel_functions", name, setup);
  result.inside_backward = true;
  result.inputs = [setup, split](const CasePlace& place) { return split_inputs(setup, split, true, place); };
  result.expected = [setup, split](const CasePlace& place) {
    return split == Split::kSequence ? ulysses_gradients(setup, place) : tensor_parallel_gradients(setup, place);
  };
  result.bounds = split == Split::kSequence ? ulysses_gradient_bounds(result.task)
                                            : tensor_parallel_bounds(result.task, bytes_of_x(setup), 2);
  result.work = block_and_gradient_work(sizes_of(setup));
  return result;
}

/// x and the gradient that arrives at the output: different on every rank, sums exact.
at::Tensor exact(at::IntArrayRef shape, std::uint64_t seed, int rank) {
  return exact_values_for_rank(shape, at::kFloat, seed, rank);
}

at::Tensor exact_sum(at::IntArrayRef shape, const CasePlace& place, std::uint64_t offset) {
  at::Tensor sum = at::zeros(shape);
  for (int rank = 0; rank < place.size; ++rank) sum += exact(shape, place.seed + offset, rank);
  return sum;
}

/// What all_to_all_parallel(x, 2, 1) leaves on this rank, derived from the meaning of the dimensions.
at::Tensor exchanged(at::IntArrayRef shape, const CasePlace& place, std::uint64_t offset, int scatter, int gather) {
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < place.size; ++rank)
    parts.push_back(part_of(exact(shape, place.seed + offset, rank), scatter, place));
  return at::cat(parts, gather);
}

Case functions_case() {
  Case result;
  result.task = "a9.parallel_functions";
  result.inside_backward = true;
  result.name = result.prefix = "ParallelFunctions";
  result.tolerance.rtol = result.tolerance.atol = 0;
  const std::vector<std::int64_t> same = {2, 3, 5};
  const auto spread = [](int size) { return std::vector<std::int64_t>{2, 3, 2 * size}; };    // [B, S/P, H]
  const auto gathered = [](int size) { return std::vector<std::int64_t>{2, 3 * size, 2}; };  // [B, S, H/P]
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.f.x", exact(same, place.seed, 0)},
                      {"input.f.grad_out", exact(same, place.seed + 1, place.rank)},
                      {"input.g.x", exact(same, place.seed + 2, place.rank)},
                      {"input.g.grad_out", exact(same, place.seed + 3, 0)},
                      {"input.all_to_all.x", exact(spread(place.size), place.seed + 4, place.rank)},
                      {"input.all_to_all.grad_out", exact(gathered(place.size), place.seed + 5, place.rank)}};
    return inputs;
  };
  const auto inputs_again = result.inputs;
  result.expected = [=](const CasePlace& place) {
    const CaseInputs inputs = inputs_again(place);
    TensorMap expected = {{"f.out", inputs.tensor("input.f.x")},
                          {"f.x.grad", exact_sum(same, place, 1)},
                          {"g.out", exact_sum(same, place, 2)},
                          {"g.x.grad", inputs.tensor("input.g.grad_out")},
                          {"all_to_all.out", exchanged(spread(place.size), place, 4, 2, 1)},
                          {"all_to_all.x.grad", exchanged(gathered(place.size), place, 5, 1, 2)}};
    // Arguments must be left unchanged.
    for (const std::string name : {"f", "g", "all_to_all"}) {
      expected[name + ".x"] = inputs.tensor("input." + name + ".x");
      expected[name + ".grad_out"] = inputs.tensor("input." + name + ".grad_out");
    }
    return expected;
  };
  return result;
}

}  // namespace

std::vector<Case> transformer_cases() {
  return {shards_case(kTensorParallel8),
          forward_case("a9.tensor_parallel", "TensorParallel", kTensorParallel, Split::kWeights),
          forward_case("a9.tensor_parallel", "TensorParallel8", kTensorParallel8, Split::kWeights),
          forward_case("a9.ulysses", "Ulysses", kUlysses, Split::kSequence),
          forward_case("a9.ulysses", "Ulysses8", kUlysses8, Split::kSequence),
          design_case(kUlysses8)};
}

std::vector<Case> transformer_gradient_cases() {
  return {functions_case(), gradient_case("TensorParallelGrad", kTensorParallel8, Split::kWeights),
          gradient_case("UlyssesGrad", kUlysses8, Split::kSequence)};
}

}  // namespace lab::a9
