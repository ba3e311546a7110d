#include "a9_collectives/calls/calls.h"

#include <c10/core/GradMode.h>

#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

/// Those that every rank has whole.
TensorMap replicated_weights(const BasicTransformerBlock& block) {
  TensorMap replicated = block.weights();
  for (const auto& [name, shard] : block.shards()) replicated.erase(name.substr(0, name.rfind("_shard")));
  return replicated;
}

TensorMap shards_call(Communicator& comm, const CaseInputs& inputs) {
  BasicTransformerBlock block = make_block(inputs);
  const TensorMap weights = block.weights();
  poison_sharded_weights(block);
  block.init_tensor_parallel_shards(comm);
  // Now the weights are read from a file, say.
  for (const auto& [name, weight] : weights) weight.detach().copy_(inputs.tensor("weight." + name));
  block.init_tensor_parallel_shards(comm);
  // A shard that is only a view of the whole weight does not survive this.
  poison_sharded_weights(block);
  TensorMap results;
  for (const auto& [name, shard] : block.shards()) results[name] = shard.defined() ? shard.detach() : shard;
  return results;
}

TensorMap tensor_parallel_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  BasicTransformerBlock block = make_block(inputs);
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
  const at::Tensor out = block.forward_tensor_parallel(inputs.tensor("input.x"), comm);
  return tensor_parallel_results(block, inputs, out);
}

TensorMap ulysses_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  const BasicTransformerBlock block = make_block(inputs);
  return ulysses_results(block, inputs, block.forward_ulysses(inputs.tensor("input.x_shard"), comm));
}

TensorMap design_call(Communicator& comm, const CaseInputs& inputs) {
  return {{"tensor_parallel", tensor_parallel_call(comm, inputs).at("out")},
          {"ulysses", ulysses_call(comm, inputs).at("out")}};
}

/// The functions, on one tensor each, "f.x", or on a second one as well, "second.f.x", whose gradient has other
/// strides; backward from all at the end. Then sum_gradients().
TensorMap functions_alone(Communicator& comm, const CaseInputs& inputs) {
  TensorMap results, leaves;
  std::vector<at::Tensor> outs, grads_out;
  const auto run = [&](const std::string& name, const std::function<at::Tensor(const at::Tensor&)>& function) {
    const at::Tensor x = leaf(inputs, "input." + name + ".x");
    const at::Tensor out = function(x);
    leaves[name] = x;
    outs.push_back(out);
    const at::Tensor& grad_out = inputs.tensor("input." + name + ".grad_out");
    grads_out.push_back(name.rfind("second.", 0) == 0 ? with_other_strides(grad_out) : grad_out.clone());
    results[name + ".out"] = out.detach().clone();  // copied before the backward pass, which must not change it
    results[name + ".grad_out"] = grads_out.back();
  };
  for (const std::string prefix : {"", "second."}) {
    if (inputs.tensors.count("input." + prefix + "f.x") == 0) continue;
    run(prefix + "f", [&](const at::Tensor& x) { return broadcast_parallel(x, comm); });
    run(prefix + "g", [&](const at::Tensor& x) { return reduce_parallel(x, comm); });
    run(prefix + "all_to_all", [&](const at::Tensor& x) {
      return all_to_all_parallel(x, inputs.integer(prefix + "scatter_dim"), inputs.integer(prefix + "gather_dim"),
                                 comm);
    });
  }
  // One after the other: of several outputs in one call, a device's thread takes whichever it sees first, and ranks would
  // call collectives in different orders.
  for (std::size_t i = 0; i < outs.size(); ++i) outs[i].backward(grads_out[i]);
  for (const auto& [name, x] : leaves) {
    results[name + ".x"] = x.detach();
    results[name + ".x.grad"] = x.grad();
  }
  const at::Tensor grad = with_other_strides(inputs.tensor("input.sum_gradients.grad"));
  const at::Tensor parameter = at::zeros_like(grad).requires_grad_();
  parameter.mutable_grad() = grad;
  sum_gradients({{"parameter", parameter}}, comm);
  if (!parameter.grad().is_same(grad))
    throw ResultError("puts another tensor in the place of .grad(), expected it to be changed in place");
  results["sum_gradients.grad"] = parameter.grad();
  return results;
}

TensorMap tensor_parallel_gradients(Communicator& comm, const CaseInputs& inputs) {
  BasicTransformerBlock block = make_block(inputs);
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor out = block.forward_tensor_parallel(x, comm);
  out.backward(inputs.tensor("input.grad_out"));
  TensorMap results = {{"out", out.detach()}, {"x.grad", x.grad()}};
  add_gradients(block.shards(), results);
  add_gradients(replicated_weights(block), results);
  return results;
}

TensorMap ulysses_gradients(Communicator& comm, const CaseInputs& inputs) {
  const BasicTransformerBlock block = make_block(inputs);
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

}  // namespace

BasicTransformerBlock make_block(const CaseInputs& inputs) {
  const std::string prefix = "weight.";
  TensorMap weights;
  for (const auto& [name, tensor] : inputs.tensors) {
    if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = tensor;
  }
  return BasicTransformerBlock({inputs.integer("d_model"), inputs.integer("num_heads"), inputs.integer("d_ff")},
                               weights);
}

TensorMap collect_results(const at::Tensor& x, const at::Tensor& out, Place place) {
  if (out.defined()) {
    const bool shares = out.is_alias_of(x);
    if (place == Place::kInPlace && !shares)
      throw ResultError("returns another tensor than its argument, expected the argument itself: it works in place");
    if (place != Place::kInPlace && shares)
      throw ResultError("returns its argument, or a view of it, expected a new tensor");
    if (place == Place::kNewContiguous && !out.is_contiguous())
      throw ResultError("returns a tensor that is not contiguous, expected a contiguous one");
  }
  return {{"out", out}, {"x", x}};
}

at::Tensor case_tensor(const CaseInputs& inputs) {
  const at::Tensor& given = inputs.tensor("input.x");
  if (inputs.numbers.count("transposed") > 0) return with_other_strides(given);
  if (inputs.numbers.count("sliced") == 0) return given.clone();
  constexpr std::int64_t kMargin = 3;  // elements in front and behind
  const at::Tensor storage = poison_(at::empty({given.numel() + 2 * kMargin}, given.options()));
  return storage.narrow(0, kMargin, given.numel()).view(given.sizes()).copy_(given);
}

void poison_sharded_weights(const BasicTransformerBlock& block) {
  const TensorMap weights = block.weights();
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc1_bias", "fc2"}) poison_(weights.at(name));
}

TensorMap tensor_parallel_results(const BasicTransformerBlock& block, const CaseInputs& inputs, const at::Tensor& out) {
  TensorMap results = replicated_weights(block);
  results.merge(block.shards());
  results.insert({{"out", out}, {"x", inputs.tensor("input.x")}});
  return results;
}

TensorMap ulysses_results(const BasicTransformerBlock& block, const CaseInputs& inputs, const at::Tensor& out) {
  TensorMap results = block.weights();
  results.insert({{"out", out}, {"x_shard", inputs.tensor("input.x_shard")}});
  return results;
}

void add_gradients(const TensorMap& parameters, TensorMap& results) {
  for (const auto& [name, parameter] : parameters) results[name + ".grad"] = parameter.grad();
}

namespace {

/// The ranks with even numbers first call it among themselves, on a tensor of their own, where the case has one. Then all
/// ranks call it: who counts calls, such as for a tag, has counted more on some of them.
TaskCall after_subgroup(const TaskCall& call) {
  return [call](Communicator& comm, const CaseInputs& inputs) {
    if (inputs.numbers.count("after_subgroup") == 0) return call(comm, inputs);
    TensorMap results;
    if (comm.rank() % 2 == 0) {
      std::vector<int> even;
      for (int rank = 0; rank < comm.size(); rank += 2) even.push_back(rank);
      Communicator group = comm.subgroup(even);
      CaseInputs of_group = inputs;
      of_group.tensors = {{"input.x", inputs.tensor("input.group.x")}};
      of_group.numbers["src_rank"] = group.size() - 1;
      for (const auto& [name, tensor] : call(group, of_group)) results["group." + name] = tensor;
    }
    results.merge(call(comm, inputs));
    return results;
  };
}

}  // namespace

CallTable calls() {
  CallTable table = {{"a9.tensor_parallel_shards", shards_call},
                     {"a9.tensor_parallel", tensor_parallel_call},
                     {"a9.ulysses", ulysses_call},
                     {"a9.design", design_call},
                     {"a9.parallel_functions", gradients_call}};
  for (const Collective& collective : catalogue()) {
    const std::string task = "a9." + collective.name;
    table[task] = after_subgroup(collective.call);
    for (std::size_t i = 1; i < collective.algorithms.size(); ++i)
      table[task + "_" + collective.algorithms[i].name] = after_subgroup(collective.algorithms[i].call);
  }
  return table;
}

}  // namespace lab::a9
