#include "a9_collectives/cases/block_setup.h"
#include "a9_collectives/cases/case_builders.h"
#include "a9_collectives/cases/cases.h"
#include "common/checks/function_cases.h"

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
  const TensorMap serial = serial_gradients(setup, make_data(setup, place.seed));
  TensorMap expected = {{"out", serial.at("out")}, {"x.grad", serial.at("x")}};
  for (const char* name : {"ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias", "fc2_bias"})
    expected[std::string(name) + ".grad"] = serial.at(name);
  for (const auto& [name, shard] : take_shards(serial, place)) expected[name + ".grad"] = shard;
  return expected;
}

TensorMap ulysses_gradients(const Setup& setup, const CasePlace& place) {
  const TensorMap serial = serial_gradients(setup, make_data(setup, place.seed));
  TensorMap expected = {{"out", take_part(serial.at("out"), 1, place)},
                        {"x_shard.grad", take_part(serial.at("x"), 1, place)}};
  for (const auto& [name, gradient] : serial) {
    if (name != "out" && name != "x") expected[name + ".grad"] = gradient;
  }
  return expected;
}

Case gradient_case(const std::string& name, const SetupOf& choose_setup, Split split) {
  Case result = block_case("a9.parallel_functions", name, choose_setup);
  result.inputs = [choose_setup, split](const CasePlace& place) {
    return split_inputs(choose_setup(place.size), split, true, place);
  };
  result.expected = [choose_setup, split](const CasePlace& place) {
    const Setup setup = choose_setup(place.size);
    return split == Split::kSequence ? ulysses_gradients(setup, place) : tensor_parallel_gradients(setup, place);
  };
  result.bounds = sums_by_any_means(result.task, [choose_setup, split](int size) {
    Traffic traffic = bound_traffic(choose_setup(size), split, 2, size);
    if (split == Split::kSequence) traffic.bytes_summed = bytes_of_weights(choose_setup(size));  // their gradients
    return traffic;
  });
  result.work = block_and_gradient_work(list_sizes(choose_setup));
  return result;
}

/// What the functions are given.
struct FunctionSizes {
  std::vector<std::int64_t> same;   ///< of f, g and sum_gradients
  std::vector<std::int64_t> chunk;  ///< what each rank has for each other one in the all-to-all
  std::int64_t scatter_dim = 2, gather_dim = 1;

  std::vector<std::int64_t> spread(int size) const { return longer(scatter_dim, size); }
  std::vector<std::int64_t> gathered(int size) const { return longer(gather_dim, size); }

 private:
  std::vector<std::int64_t> longer(std::int64_t dim, int size) const {
    std::vector<std::int64_t> shape = chunk;
    shape[static_cast<std::size_t>(dim < 0 ? dim + 3 : dim)] *= size;
    return shape;
  }
};

/// What all_to_all_parallel leaves on this rank, derived from the meaning of the dimensions.
at::Tensor exchange_parts(const FunctionData& data, std::uint64_t more, const CasePlace& place, std::int64_t scatter,
                          std::int64_t gather) {
  std::vector<at::Tensor> parts = data.of_all(place, more);
  for (at::Tensor& part : parts) part = take_part(part, scatter, place);
  return at::cat(parts, gather);
}

/// f, g and all_to_all_parallel on tensors of each of these sizes, backward from all at the end. Then sum_gradients(),
/// to which rank 0 contributes zeros.
Case functions_case(const std::string& case_name, const std::vector<FunctionSizes>& all_sizes, bool random) {
  Case result;
  result.task = "a9.parallel_functions";
  result.name = result.prefix = case_name;
  if (!random) result.tolerance.rtol = result.tolerance.atol = 0;
  const auto for_each =
      [=](const std::function<void(const std::string& prefix, const FunctionSizes&, std::uint64_t)>& use) {
        for (std::size_t i = 0; i < all_sizes.size(); ++i) use(i == 0 ? "" : "second.", all_sizes[i], 6 * i);
      };
  const auto contributed = [=](const CasePlace& place, int rank) {
    const at::Tensor grad = FunctionData{all_sizes.front().same, random}.of_rank(place, 12, rank);
    return rank == 0 ? at::zeros_like(grad) : grad;
  };
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    for_each([&](const std::string& prefix, const FunctionSizes& sizes, std::uint64_t offset) {
      const auto add = [&](const char* name, const std::vector<std::int64_t>& shape, std::uint64_t more, int rank) {
        inputs.tensors["input." + prefix + name] = FunctionData{shape, random, offset}.of_rank(place, more, rank);
      };
      add("f.x", sizes.same, 0, 0);
      add("f.grad_out", sizes.same, 1, place.rank);
      add("g.x", sizes.same, 2, place.rank);
      add("g.grad_out", sizes.same, 3, 0);
      add("all_to_all.x", sizes.spread(place.size), 4, place.rank);
      add("all_to_all.grad_out", sizes.gathered(place.size), 5, place.rank);
      inputs.numbers[prefix + "scatter_dim"] = static_cast<double>(sizes.scatter_dim);
      inputs.numbers[prefix + "gather_dim"] = static_cast<double>(sizes.gather_dim);
    });
    inputs.tensors["input.sum_gradients.grad"] = contributed(place, place.rank);
    return inputs;
  };
  result.expected = [=, inputs_again = result.inputs](const CasePlace& place) {
    TensorMap expected;
    // Arguments must be left unchanged.
    for (const auto& [name, tensor] : inputs_again(place).tensors) expected[name.substr(6)] = tensor;
    for_each([&](const std::string& prefix, const FunctionSizes& sizes, std::uint64_t offset) {
      const FunctionData same = {sizes.same, random, offset};
      expected[prefix + "f.out"] = expected.at(prefix + "f.x");
      expected[prefix + "f.x.grad"] = same.sum(place, 1);
      expected[prefix + "g.out"] = same.sum(place, 2);
      expected[prefix + "g.x.grad"] = expected.at(prefix + "g.grad_out");
      expected[prefix + "all_to_all.out"] =
          exchange_parts({sizes.spread(place.size), random, offset}, 4, place, sizes.scatter_dim, sizes.gather_dim);
      expected[prefix + "all_to_all.x.grad"] =
          exchange_parts({sizes.gathered(place.size), random, offset}, 5, place, sizes.gather_dim, sizes.scatter_dim);
    });
    at::Tensor& sum = expected.at("sum_gradients.grad");
    sum = at::stack(of_each_rank(0, place.size, [&](int rank) { return contributed(place, rank); }))
              .to(at::kDouble)
              .sum(0)
              .to(at::kFloat);
    return expected;
  };
  // f sums in its backward pass and g in its forward pass; the all-to-all exchanges P - 1 of P parts in both. And
  // sum_gradients() sums.
  result.bounds = sums_by_any_means(result.task, [=](int size) {
    const auto view_bytes = [](const std::vector<std::int64_t>& shape) {
      return static_cast<std::uint64_t>(c10::multiply_integers(shape)) * c10::elementSize(at::kFloat);
    };
    Traffic traffic;
    traffic.bytes_summed = view_bytes(all_sizes.front().same);
    for (const FunctionSizes& sizes : all_sizes) {
      const Traffic exchanged =
          all_to_all_traffic(2, view_bytes(sizes.spread(size)) / static_cast<std::uint64_t>(size), size);
      traffic.bytes_exchanged += exchanged.bytes_exchanged;
      traffic.most_exchanged += exchanged.most_exchanged;
      traffic.bytes_summed += 2 * view_bytes(sizes.same);
    }
    return traffic;
  });
  return result;
}

// So large that one sum or exchange too many is more than the few numbers which the bounds leave free.
const FunctionSizes kSizes = {{4, 7, 11}, {4, 5, 3}}, kOtherSizes = {{3, 5, 23}, {5, 3, 4}, 0, -1};

}  // namespace

std::vector<Case> transformer_gradient_cases() {
  return {functions_case("ParallelFunctions", {kSizes}, false),
          gradient_case("TensorParallelGrad", further_tensor_parallel_setup, Split::kWeights),
          gradient_case("UlyssesGrad", further_ulysses_setup, Split::kSequence)};
}

std::vector<Case> unprinted_function_cases() {
  return {functions_case("ParallelFunctionsTwice", {kSizes, kOtherSizes}, false),
          functions_case("ParallelFunctionsRandom", {kOtherSizes}, true)};
}

}  // namespace lab::a9
