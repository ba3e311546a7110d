#include "a9_collectives/cases/block_setup.h"
#include "a9_collectives/cases/cases.h"

namespace lab::a9 {
namespace {

at::Tensor serial_out(const Setup& setup, const BlockData& data) {
  return BasicTransformerBlock(setup.options, data.weights).forward(data.x).detach();
}

Case shards_case(const SetupOf& setup_of) {
  Case result = block_case("a9.tensor_parallel_shards", "TensorParallelShards", setup_of);
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [setup_of](const CasePlace& place) {
    const Setup setup = setup_of(place.size);
    return weight_inputs(setup, data_of(setup, place.seed));
  };
  result.expected = [setup_of](const CasePlace& place) {
    return shards_of(data_of(setup_of(place.size), place.seed).weights, place);
  };
  result.bounds = no_communication(result.task);
  return result;
}

/// What tensor_parallel_results() and ulysses_results() are of a right solution.
TensorMap forward_results(const Setup& setup, Split split, const CasePlace& place) {
  const BlockData data = data_of(setup, place.seed);
  const at::Tensor out = serial_out(setup, data);
  TensorMap results = data.weights;
  if (split == Split::kSequence) {
    results.insert({{"out", part_of(out, 1, place)}, {"x_shard", part_of(data.x, 1, place)}});
    return results;
  }
  results.insert({{"out", out}, {"x", data.x}});
  for (const auto& [name, shard] : shards_of(data.weights, place)) {
    results[name] = shard;
    results.erase(name.substr(0, name.rfind("_shard")));
  }
  return results;
}

Case forward_case(const std::string& task, const std::string& name, const SetupOf& setup_of, Split split) {
  Case result = block_case(task, name, setup_of);
  result.inputs = [setup_of, split](const CasePlace& place) {
    return split_inputs(setup_of(place.size), split, false, place);
  };
  result.expected = [setup_of, split](const CasePlace& place) {
    return forward_results(setup_of(place.size), split, place);
  };
  result.bounds =
      sums_by_any_means(task, [setup_of, split](int size) { return traffic_of(setup_of(size), split, 1, size); });
  result.work = block_work(sizes_of(setup_of), 1);
  return result;
}

Case design_case(const SetupOf& setup_of) {
  Case result = block_case("a9.design", "OwnCollectives", setup_of);
  result.inputs = [setup_of](const CasePlace& place) {
    CaseInputs inputs = split_inputs(setup_of(place.size), Split::kWeights, false, place);
    inputs.tensors["input.x_shard"] = part_of(inputs.tensor("input.x"), 1, place);
    return inputs;
  };
  result.expected = [setup_of](const CasePlace& place) {
    const Setup setup = setup_of(place.size);
    const at::Tensor out = serial_out(setup, data_of(setup, place.seed));
    return TensorMap{{"tensor_parallel", out}, {"ulysses", part_of(out, 1, place)}};
  };
  result.bounds = own_collectives(result.task, [setup_of](int size) {
    Traffic both = traffic_of(setup_of(size), Split::kSequence, 1, size);
    both.bytes_summed = traffic_of(setup_of(size), Split::kWeights, 1, size).bytes_summed;
    return both;
  });
  result.work = block_work(sizes_of(setup_of), 2);
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
