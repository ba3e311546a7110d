#include "a4_data_tensor/calls/calls.h"

#include <functional>

#include "a4_data_tensor/accumulation.h"
#include "a4_data_tensor/column_parallel.h"
#include "a4_data_tensor/data_parallel.h"
#include "a4_data_tensor/parallel_functions.h"
#include "a4_data_tensor/row_parallel.h"
#include "a4_data_tensor/single_step.h"
#include "common/rank/function_call.h"

namespace lab::a4 {
namespace {

/// The result of a step, which promises that it is detached.
/// Errors    ResultError: it is not
at::Tensor detached(const at::Tensor& weight) {
  if (weight.defined() && weight.requires_grad())
    throw ResultError("returns a weight that requires a gradient, expected a detached one");
  return weight;
}

/// What a layer keeps of a weight that it was given, which promises that it is a copy.
/// Errors    ResultError: it is a view
at::Tensor copied(const at::Tensor& own, const at::Tensor& given) {
  if (own.defined() && given.defined() && own.is_alias_of(given))
    throw ResultError("the layer keeps a view of the weight that it is given, expected a copy");
  return own;
}

/// A layer, as a case uses it.
struct LayerUnderTest {
  std::function<at::Tensor(const at::Tensor& x)> forward;
  TensorMap weights;  ///< this rank's, by name; leaves; undefined ones are left out
};

/// Runs a layer forward and backward. `x_name`: of its input, "x" or "x_shard". Results "out", "<x_name>.grad" and
/// "<weight>.grad"; and "<x_name>" and "<weight>" as they are afterwards. Undefined results are for the case to refuse.
/// With the number "twice" it goes forward again with twice the input, before it goes backward from both: "second.out"
/// and "second.<x_name>.grad".
TensorMap layer_results(const CaseInputs& inputs, const std::string& x_name, const LayerUnderTest& layer) {
  TensorMap results;
  std::vector<at::Tensor> outs, leaves;
  const bool is_twice = inputs.numbers.count("twice") != 0;
  for (const int times : is_twice ? std::vector<int>{1, 2} : std::vector<int>{1}) {
    const at::Tensor given = inputs.tensor("input." + x_name), x = times == 1 ? given.clone() : times * given;
    // A shard is a slice of columns: not contiguous.
    leaves.push_back((is_twice && x_name == "x_shard" ? with_other_strides(x) : x).requires_grad_());
    outs.push_back(layer.forward(leaves.back()));
  }
  const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
  for (std::size_t i = 0; i < outs.size(); ++i) {
    if (can_go_backward(outs[i], grad_out)) outs[i].backward(grad_out);
    const std::string prefix = i == 0 ? "" : "second.";
    results[prefix + "out"] = without_graph(outs[i]);
    results[prefix + x_name + ".grad"] = leaves[i].grad();
  }
  results[x_name] = leaves.front().detach();
  for (const auto& [name, weight] : layer.weights) {
    if (!weight.defined()) continue;
    results[name + ".grad"] = weight.grad();
    results[name] = weight.detach();
  }
  return results;
}

at::Tensor optional_tensor(const CaseInputs& inputs, const std::string& name) {
  const auto found = inputs.tensors.find(name);
  return found == inputs.tensors.end() ? at::Tensor() : found->second;
}

TensorMap single_step_call(Communicator&, const CaseInputs& inputs) {
  const StepResult result = single_step(step_options(inputs));
  return {{"initial", result.initial_weight}, {"updated", detached(result.updated_weight)}};
}

TensorMap accumulation_call(Communicator&, const CaseInputs& inputs) {
  return {
      {"W", detached(single_step_with_grad_accumulation(step_options(inputs), inputs.integer("accumulation_steps")))}};
}

TensorMap data_parallel_call(Communicator& comm, const CaseInputs& inputs) {
  return {{"W", detached(data_parallel_single_step(step_options(inputs), comm.collectives()))}};
}

TensorMap column_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("input.x") == 0) {
    return {{"W", detached(full_column_parallel_single_step(step_options(inputs), comm.collectives()))}};
  }
  const at::Tensor weight = inputs.tensor("weight.W"), bias = optional_tensor(inputs, "weight.bias");
  const FullColumnParallelLinear layer(weight, bias, comm.collectives());
  return layer_results(inputs, "x",
                       {[&](const at::Tensor& x) { return layer.forward(x); },
                        {{"W", copied(layer.W, weight)}, {"bias", copied(layer.bias, bias)}}});
}

/// g by itself, or the layer that uses it.
TensorMap row_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("weight.W") == 0) return function_call(reduce_parallel)(comm, inputs);
  const at::Tensor weight = inputs.tensor("weight.W"), bias = inputs.tensor("weight.bias");
  const RowParallelLinear layer(weight, bias, comm.collectives());
  return layer_results(inputs, "x_shard",
                       {[&](const at::Tensor& x) { return layer.forward(x); },
                        {{"W", copied(layer.W, weight)}, {"bias", copied(layer.bias, bias)}}});
}

TensorMap pair_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor weight1 = inputs.tensor("weight.W1"), weight2 = inputs.tensor("weight.W2");
  const ColumnRowPair pair(weight1, weight2, comm.collectives());
  return layer_results(inputs, "x",
                       {[&](const at::Tensor& x) { return pair.forward(x); },
                        {{"W1", copied(pair.W1, weight1)}, {"W2", copied(pair.second.W, weight2)}}});
}

}  // namespace

StepOptions step_options(const CaseInputs& inputs) {
  StepOptions options;
  options.global_batch_size = inputs.integer("global_batch_size");
  options.input_dim = inputs.integer("input_dim");
  options.output_dim = inputs.integer("output_dim");
  options.learning_rate = inputs.number("learning_rate");
  options.seed = inputs.seed;
  options.device = inputs.device;
  return options;
}

CallTable calls() {
  return {{"a4.single_step", single_step_call},
          {"a4.accumulation", accumulation_call},
          {"a4.data_parallel", data_parallel_call},
          {"a4.broadcast_parallel", function_call(broadcast_parallel)},
          {"a4.gather_parallel", function_call(gather_parallel)},
          {"a4.column_parallel", column_call},
          {"a4.row_parallel", row_call},
          {"a4.column_row", pair_call}};
}

}  // namespace lab::a4
