#include "a9_collectives/cases/block_setup.h"
#include "a9_collectives/cases/cases.h"

namespace lab::a9 {
namespace {

at::Tensor serial_out(const Setup& setup, const BlockData& data) {
  return BasicTransformerBlock(setup.options, data.weights).forward(data.x).detach();
}

Case shards_case(const SetupOf& choose_setup) {
  Case result = block_case("a9.tensor_parallel_shards", "TensorParallelShards", choose_setup);
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [choose_setup](const CasePlace& place) {
    const Setup setup = choose_setup(place.size);
    return weight_inputs(setup, make_data(setup, place.seed));
  };
  result.expected = [choose_setup](const CasePlace& place) {
    return take_shards(make_data(choose_setup(place.size), place.seed).weights, place);
  };
  result.bounds = no_communication(result.task);
  return result;
}

/// What tensor_parallel_results() and ulysses_results() are of a right solution.
TensorMap forward_results(const Setup& setup, Split split, const CasePlace& place) {
  const BlockData data = make_data(setup, place.seed);
  const at::Tensor out = serial_out(setup, data);
  TensorMap results = data.weights;
  if (split == Split::kSequence) {
    results.insert({{"out", take_part(out, 1, place)}, {"x_shard", take_part(data.x, 1, place)}});
    return results;
  }
  results.insert({{"out", out}, {"x", data.x}});
  for (const auto& [name, shard] : take_shards(data.weights, place)) {
    results[name] = shard;
    results.erase(name.substr(0, name.rfind("_shard")));
  }
  return results;
}

Case forward_case(const std::string& task, const std::string& name, const SetupOf& choose_setup, Split split) {
  Case result = block_case(task, name, choose_setup);
  result.inputs = [choose_setup, split](const CasePlace& place) {
    return split_inputs(choose_setup(place.size), split, false, place);
  };
  result.expected = [choose_setup, split](const CasePlace& place) {
    return forward_results(choose_setup(place.size), split, place);
  };
  result.bounds = sums_by_any_means(
      task, [choose_setup, split](int size) { return bound_traffic(choose_setup(size), split, 1, size); });
  result.work = block_work(list_sizes(choose_setup), 1);
  return result;
}

Case design_case(const SetupOf& choose_setup) {
  Case result = block_case("a9.design", "OwnCollectives", choose_setup);
  result.inputs = [choose_setup](const CasePlace& place) {
    CaseInputs inputs = split_inputs(choose_setup(place.size), Split::kWeights, false, place);
    inputs.tensors["input.x_shard"] = take_part(inputs.tensor("input.x"), 1, place);
    return inputs;
  };
  result.expected = [choose_setup](const CasePlace& place) {
    const Setup setup = choose_setup(place.size);
    const at::Tensor out = serial_out(setup, make_data(setup, place.seed));
    return TensorMap{{"tensor_parallel", out}, {"ulysses", take_part(out, 1, place)}};
  };
  result.bounds = own_collectives(result.task, [choose_setup](int size) {
    Traffic both = bound_traffic(choose_setup(size), Split::kSequence, 1, size);
    both.bytes_summed = bound_traffic(choose_setup(size), Split::kWeights, 1, size).bytes_summed;
    return both;
  });
  result.work = block_work(list_sizes(choose_setup), 2);
  return result;
}

}  // namespace

std::vector<Case> transformer_cases() {
  return {shards_case(further_tensor_parallel_setup),
          forward_case("a9.tensor_parallel", "TensorParallel", tensor_parallel_setup, Split::kWeights),
          forward_case("a9.tensor_parallel", "TensorParallel8", further_tensor_parallel_setup, Split::kWeights),
          forward_case("a9.ulysses", "Ulysses", ulysses_setup, Split::kSequence),
          forward_case("a9.ulysses", "Ulysses8", further_ulysses_setup, Split::kSequence),
          design_case(further_ulysses_setup)};
}

}  // namespace lab::a9
