#include "a4_data_tensor/calls/calls.h"

#include "a4_data_tensor/accumulation.h"
#include "a4_data_tensor/column_parallel.h"
#include "a4_data_tensor/data_parallel.h"
#include "a4_data_tensor/parallel_functions.h"
#include "a4_data_tensor/row_parallel.h"
#include "a4_data_tensor/single_step.h"

namespace lab::a4 {
namespace {

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

/// Backward from `out`, if that is possible: a missing graph, and another shape, show in the results.
void go_backward(const at::Tensor& out, const at::Tensor& grad_out) {
  if (out.defined() && out.requires_grad() && out.sizes() == grad_out.sizes()) out.backward(grad_out);
}

at::Tensor without_graph(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach() : tensor;
}

}  // namespace

TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives&)>& function) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = leaf(inputs, "input.x"), grad_out = inputs.tensor("input.grad_out").clone();
    const at::Tensor out = function(x, comm.collectives());
    // Copied before the backward pass, which must change neither.
    TensorMap results = {{"out", out.defined() ? out.detach().clone() : out}};
    go_backward(out, grad_out);
    results["x.grad"] = x.grad();
    results["x"] = x.detach();
    results["grad_out"] = grad_out;
    return results;
  };
}

TensorMap layer_results(const CaseInputs& inputs, const std::string& x_name, const LayerUnderTest& layer) {
  const at::Tensor x = leaf(inputs, "input." + x_name);
  const at::Tensor out = layer.forward(x);
  go_backward(out, inputs.tensor("input.grad_out").clone());
  TensorMap results = {{"out", without_graph(out)}, {x_name + ".grad", x.grad()}, {x_name, x.detach()}};
  for (const auto& [name, weight] : layer.weights) {
    if (!weight.defined()) continue;
    results[name + ".grad"] = weight.grad();
    results[name] = weight.detach();
  }
  return results;
}

namespace {

at::Tensor optional_tensor(const CaseInputs& inputs, const std::string& name) {
  const auto found = inputs.tensors.find(name);
  return found == inputs.tensors.end() ? at::Tensor() : found->second;
}

TensorMap single_step_call(Communicator&, const CaseInputs& inputs) {
  const StepResult result = single_step(step_options(inputs));
  return {{"initial", result.initial_weight}, {"updated", result.updated_weight}};
}

TensorMap accumulation_call(Communicator&, const CaseInputs& inputs) {
  return {{"W", single_step_with_grad_accumulation(step_options(inputs), inputs.integer("accumulation_steps"))}};
}

TensorMap data_parallel_call(Communicator& comm, const CaseInputs& inputs) {
  return {{"W", data_parallel_single_step(step_options(inputs), comm.collectives())}};
}

TensorMap column_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("input.x") == 0) {
    return {{"W", full_column_parallel_single_step(step_options(inputs), comm.collectives())}};
  }
  const FullColumnParallelLinear layer(inputs.tensor("weight.W"), optional_tensor(inputs, "weight.bias"),
                                       comm.collectives());
  return layer_results(inputs, "x",
                       {[&](const at::Tensor& x) { return layer.forward(x); }, {{"W", layer.W}, {"bias", layer.bias}}});
}

/// g by itself, or the layer that uses it.
TensorMap row_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("weight.W") == 0) return function_call(reduce_parallel)(comm, inputs);
  const RowParallelLinear layer(inputs.tensor("weight.W"), inputs.tensor("weight.bias"), comm.collectives());
  return layer_results(inputs, "x_shard",
                       {[&](const at::Tensor& x) { return layer.forward(x); }, {{"W", layer.W}, {"bias", layer.bias}}});
}

TensorMap pair_call(Communicator& comm, const CaseInputs& inputs) {
  const ColumnRowPair pair(inputs.tensor("weight.W1"), inputs.tensor("weight.W2"), comm.collectives());
  return layer_results(
      inputs, "x", {[&](const at::Tensor& x) { return pair.forward(x); }, {{"W1", pair.W1}, {"W2", pair.second.W}}});
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
