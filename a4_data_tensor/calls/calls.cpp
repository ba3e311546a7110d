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

TensorMap broadcast_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
  const at::Tensor out = broadcast_parallel(x, comm.collectives());
  out.backward(grad_out);
  return {{"out", out.detach()}, {"x.grad", x.grad()}, {"grad_out", grad_out}};
}

TensorMap gather_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor out = gather_parallel(x, comm.collectives());
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()}, {"x.grad", x.grad()}};
}

TensorMap column_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("input.x") == 0) {
    return {{"W", full_column_parallel_single_step(step_options(inputs), comm.collectives())}};
  }
  const at::Tensor x = leaf(inputs, "input.x");
  const FullColumnParallelLinear layer(inputs.tensor("weight.W"), optional_tensor(inputs, "weight.bias"),
                                       comm.collectives());
  const at::Tensor out = layer.forward(x);
  out.backward(inputs.tensor("input.grad_out"));
  TensorMap results = {{"out", out.detach()}, {"x.grad", x.grad()}, {"W.grad", layer.W.grad()}};
  if (layer.bias.defined()) results["bias.grad"] = layer.bias.grad();
  return results;
}

TensorMap row_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x_shard = leaf(inputs, "input.x_shard");
  const RowParallelLinear layer(inputs.tensor("weight.W"), inputs.tensor("weight.bias"), comm.collectives());
  const at::Tensor out = layer.forward(x_shard);
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()},
          {"x_shard.grad", x_shard.grad()},
          {"W.grad", layer.W.grad()},
          {"bias.grad", layer.bias.grad()}};
}

TensorMap pair_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const ColumnRowPair pair(inputs.tensor("weight.W1"), inputs.tensor("weight.W2"), comm.collectives());
  const at::Tensor out = pair.forward(x);
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()}, {"x.grad", x.grad()}, {"W1.grad", pair.W1.grad()}, {"W2.grad", pair.second.W.grad()}};
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
          {"a4.broadcast_parallel", broadcast_call},
          {"a4.gather_parallel", gather_call},
          {"a4.column_parallel", column_call},
          {"a4.row_parallel", row_call},
          {"a4.column_row", pair_call}};
}

}  // namespace lab::a4
