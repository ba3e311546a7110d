#include "a9_collectives/cases/block_setup.h"
#include "a9_collectives/cases/cases.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

/// Forward and backward of the serial block: "out", "x.grad" and "<weight>.grad", all whole.
TensorMap serial_gradients(const Setup& setup, const BlockData& data) {
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

Case gradient_case(const std::string& name, const SetupOf& setup_of, Split split) {
  Case result = block_case("a9.parallel_functions", name, setup_of);
  result.inputs = [setup_of, split](const CasePlace& place) {
    return split_inputs(setup_of(place.size), split, true, place);
  };
  result.expected = [setup_of, split](const CasePlace& place) {
    const Setup setup = setup_of(place.size);
    return split == Split::kSequence ? ulysses_gradients(setup, place) : tensor_parallel_gradients(setup, place);
  };
  result.bounds = sums_by_any_means(result.task, [setup_of, split](int size) {
    Traffic traffic = traffic_of(setup_of(size), split, 2, size);
    if (split == Split::kSequence) traffic.bytes_summed = bytes_of_weights(setup_of(size));  // their gradients
    return traffic;
  });
  result.work = block_and_gradient_work(sizes_of(setup_of));
  return result;
}

/// x and the gradient that arrives at the output: different on every rank, sums exact.
at::Tensor exact(at::IntArrayRef shape, std::uint64_t seed, int rank) {
  return exact_values_for_rank(shape, at::kFloat, seed, rank);
}

at::Tensor exact_sum(at::IntArrayRef shape, const CasePlace& place, std::uint64_t offset) {
  at::Tensor sum = at::zeros(shape);
  for (const at::Tensor& one : exact_values_of_ranks(shape, at::kFloat, place.seed + offset, 0, place.size)) sum += one;
  return sum;
}

/// What all_to_all_parallel(x, 2, 1) leaves on this rank, derived from the meaning of the dimensions.
at::Tensor exchanged(at::IntArrayRef shape, const CasePlace& place, std::uint64_t offset, int scatter, int gather) {
  std::vector<at::Tensor> parts = exact_values_of_ranks(shape, at::kFloat, place.seed + offset, 0, place.size);
  for (at::Tensor& part : parts) part = part_of(part, scatter, place);
  return at::cat(parts, gather);
}

Case functions_case() {
  Case result;
  result.task = "a9.parallel_functions";
  result.name = result.prefix = "ParallelFunctions";
  result.tolerance.rtol = result.tolerance.atol = 0;
  // So large that one sum or exchange too many is more than the few numbers which the bounds leave free.
  const std::vector<std::int64_t> same = {4, 7, 11};
  const auto spread = [](int size) { return std::vector<std::int64_t>{4, 5, 3 * size}; };    // [B, S/P, H]
  const auto gathered = [](int size) { return std::vector<std::int64_t>{4, 5 * size, 3}; };  // [B, S, H/P]
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
  // f sums in its backward pass and g in its forward pass; the all-to-all exchanges P - 1 of P parts in both.
  result.bounds = sums_by_any_means(result.task, [=](int size) {
    const auto bytes_of = [](const std::vector<std::int64_t>& shape) {
      return static_cast<std::uint64_t>(c10::multiply_integers(shape)) * c10::elementSize(at::kFloat);
    };
    Traffic traffic = all_to_all_traffic(2, bytes_of(spread(size)) / static_cast<std::uint64_t>(size), size);
    traffic.bytes_summed = 2 * bytes_of(same);
    return traffic;
  });
  return result;
}

}  // namespace

std::vector<Case> transformer_gradient_cases() {
  return {functions_case(), gradient_case("TensorParallelGrad", further_tensor_parallel_setup, Split::kWeights),
          gradient_case("UlyssesGrad", further_ulysses_setup, Split::kSequence)};
}

}  // namespace lab::a9
