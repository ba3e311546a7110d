#include "a9_collectives/calls/calls.h"

#include <c10/core/GradMode.h>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

TensorMap shards_call(Communicator& comm, const CaseInputs& inputs) {
  BasicTransformerBlock block = block_of(inputs);
  block.init_tensor_parallel_shards(comm);
  // A shard that is only a view of the whole weight does not survive this.
  poison_sharded_weights(block);
  TensorMap results;
  for (const auto& [name, shard] : block.shards()) results[name] = shard.defined() ? shard.detach() : shard;
  return results;
}

at::Tensor tensor_parallel(Communicator& comm, const CaseInputs& inputs) {
  BasicTransformerBlock block = block_of(inputs);
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
  return block.forward_tensor_parallel(inputs.tensor("input.x"), comm);
}

at::Tensor ulysses(Communicator& comm, const CaseInputs& inputs) {
  return block_of(inputs).forward_ulysses(inputs.tensor("input.x_shard"), comm);
}

TensorMap tensor_parallel_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  return {{"out", tensor_parallel(comm, inputs)}};
}

TensorMap ulysses_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  return {{"out", ulysses(comm, inputs)}};
}

TensorMap design_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  return {{"tensor_parallel", tensor_parallel(comm, inputs)}, {"ulysses", ulysses(comm, inputs)}};
}

TensorMap functions_alone(Communicator& comm, const CaseInputs& inputs) {
  TensorMap results;
  const auto run = [&](const std::string& name, const std::function<at::Tensor(const at::Tensor&)>& function) {
    const at::Tensor x = leaf(inputs, "input." + name + ".x");
    const at::Tensor grad_out = inputs.tensor("input." + name + ".grad_out").clone();
    const at::Tensor out = function(x);
    out.backward(grad_out);
    results[name + ".x"] = x.detach();
    results[name + ".out"] = out.detach();
    results[name + ".x.grad"] = x.grad();
    results[name + ".grad_out"] = grad_out;
  };
  run("f", [&](const at::Tensor& x) { return broadcast_parallel(x, comm); });
  run("g", [&](const at::Tensor& x) { return reduce_parallel(x, comm); });
  run("all_to_all", [&](const at::Tensor& x) { return all_to_all_parallel(x, 2, 1, comm); });
  return results;
}

TensorMap tensor_parallel_gradients(Communicator& comm, const CaseInputs& inputs) {
  BasicTransformerBlock block = block_of(inputs);
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor out = block.forward_tensor_parallel(x, comm);
  out.backward(inputs.tensor("input.grad_out"));
  TensorMap results = {{"out", out.detach()}, {"x.grad", x.grad()}};
  add_gradients(block.shards(), results);
  TensorMap kept;
  for (const auto& [name, weight] : block.weights()) {
    if (block.shards().count(name + "_shard") == 0) kept[name] = weight;
  }
  add_gradients(kept, results);
  return results;
}

TensorMap ulysses_gradients(Communicator& comm, const CaseInputs& inputs) {
  const BasicTransformerBlock block = block_of(inputs);
  const at::Tensor x_shard = leaf(inputs, "input.x_shard");
  const at::Tensor out = block.forward_ulysses(x_shard, comm);
  out.backward(inputs.tensor("input.grad_out"));
  sum_gradients(block.weights(), comm);
  TensorMap results = {{"out", out.detach()}, {"x_shard.grad", x_shard.grad()}};
  add_gradients(block.weights(), results);
  return results;
}

TensorMap gradients_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("input.x") != 0) return tensor_parallel_gradients(comm, inputs);
  if (inputs.tensors.count("input.x_shard") != 0) return ulysses_gradients(comm, inputs);
  return functions_alone(comm, inputs);
}

/// The case's tensor; transposed in memory if the case asks for it.
at::Tensor input_of(const CaseInputs& inputs) {
  const at::Tensor x = inputs.tensor("input.x").clone();
  return inputs.numbers.count("transposed") == 0 ? x : x.transpose(0, -1).contiguous().transpose(0, -1);
}

int src_rank_of(const CaseInputs& inputs) {
  return static_cast<int>(inputs.integer("src_rank"));
}

/// What the contract of a collective says of its result.
enum class Result { kInPlace, kNew };

/// The result and the argument, which holds the same if the contract says `in place`, and otherwise is unchanged.
/// Errors    ResultError: the result is not where the contract says
TensorMap results_of(const at::Tensor& x, const at::Tensor& out, Result expected) {
  if (out.defined()) {
    const bool in_place = out.is_alias_of(x);
    if (expected == Result::kInPlace && !in_place)
      throw ResultError("returns another tensor than its argument, expected the argument itself: it works in place");
    if (expected == Result::kNew && in_place)
      throw ResultError("returns its argument, or a view of it, expected a new tensor");
    if (expected == Result::kNew && !out.is_contiguous())
      throw ResultError("returns a tensor that is not contiguous, expected a contiguous one");
  }
  return {{"out", out}, {"x", x}};
}

TaskCall on_tensor(at::Tensor (*function)(at::Tensor, PointToPoint&), Result expected) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    return results_of(x, function(x, comm.point_to_point()), expected);
  };
}

TaskCall in_place(at::Tensor (*function)(at::Tensor, PointToPoint&)) {
  return on_tensor(function, Result::kInPlace);
}

TaskCall made_new(at::Tensor (*function)(at::Tensor, PointToPoint&)) {
  return on_tensor(function, Result::kNew);
}

TaskCall from_rank(at::Tensor (*function)(at::Tensor, int, PointToPoint&)) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    return results_of(x, function(x, src_rank_of(inputs), comm.point_to_point()), Result::kInPlace);
  };
}

TaskCall along_dims(at::Tensor (*function)(at::Tensor, std::int64_t, std::int64_t, PointToPoint&)) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    const at::Tensor out =
        function(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), comm.point_to_point());
    return results_of(x, out, Result::kNew);
  };
}

}  // namespace

BasicTransformerBlock block_of(const CaseInputs& inputs) {
  const std::string prefix = "weight.";
  TensorMap weights;
  for (const auto& [name, tensor] : inputs.tensors) {
    if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = tensor;
  }
  return BasicTransformerBlock({inputs.integer("d_model"), inputs.integer("num_heads"), inputs.integer("d_ff")},
                               weights);
}

void poison_sharded_weights(const BasicTransformerBlock& block) {
  const TensorMap weights = block.weights();
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc1_bias", "fc2"}) poison_(weights.at(name));
}

void add_gradients(const TensorMap& parameters, TensorMap& results) {
  for (const auto& [name, parameter] : parameters) results[name + ".grad"] = parameter.grad();
}

CallTable calls() {
  return {{"a9.broadcast", from_rank(my_broadcast)},
          {"a9.broadcast_binomial", from_rank(broadcast_binomial)},
          {"a9.broadcast_chain", from_rank(broadcast_chain)},
          {"a9.allreduce", in_place(my_allreduce)},
          {"a9.allreduce_recursive_doubling", in_place(allreduce_recursive_doubling)},
          {"a9.allreduce_ring", in_place(allreduce_ring)},
          {"a9.allreduce_rabenseifner", in_place(allreduce_rabenseifner)},
          {"a9.allreduce_direct", in_place(allreduce_direct)},
          {"a9.allgather", made_new(my_allgather)},
          {"a9.allgather_ring", made_new(allgather_ring)},
          {"a9.allgather_recursive_doubling", made_new(allgather_recursive_doubling)},
          {"a9.allgather_bruck", made_new(allgather_bruck)},
          {"a9.allgather_direct", made_new(allgather_direct)},
          {"a9.reduce_scatter", made_new(my_reduce_scatter)},
          {"a9.reduce_scatter_ring", made_new(reduce_scatter_ring)},
          {"a9.reduce_scatter_recursive_halving", made_new(reduce_scatter_recursive_halving)},
          {"a9.all_to_all", along_dims(my_all_to_all)},
          {"a9.all_to_all_pairwise", along_dims(all_to_all_pairwise)},
          {"a9.tensor_parallel_shards", shards_call},
          {"a9.tensor_parallel", tensor_parallel_call},
          {"a9.ulysses", ulysses_call},
          {"a9.design", design_call},
          {"a9.parallel_functions", gradients_call}};
}

}  // namespace lab::a9
