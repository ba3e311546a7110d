#include "vae_sequence_parallel/calls/module_call.h"

#include <c10/core/GradMode.h>

#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/calls/leaf_weights.h"
#include "vae_sequence_parallel/model/checkpoint.h"

namespace lab::vae {
namespace {

TensorMap make_outcome(const WidthShard& out) {
  return {{"out", out.columns.detach()}, {"widths", at::tensor(out.widths, at::kLong)}};
}

/// A rank's output for its first column, minus rank 0's output for the same column.
TensorMap difference_of_first_column(const at::Tensor& out, Communicator& comm) {
  const at::Tensor own = out.narrow(3, 0, 1).contiguous();
  return {{"first_column", own - comm.collectives().broadcast(own.clone(), 0)}};
}

/// The communicator that a case is about.
Communicator of_case(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.numbers.count("every_other_rank") == 0) return comm;
  std::vector<int> ranks;
  for (int rank = comm.rank() % 2; rank < comm.size(); rank += 2) ranks.push_back(rank);
  return comm.subgroup(ranks);
}

/// Each rank has its columns twice.
void call_with_wider(const ShardFunction& module, const WidthShard& x) {
  const c10::NoGradGuard no_grad;
  const UnchargedScope held;
  const UncountedWork done;
  WidthShard wider = {at::cat({x.columns, x.columns}, 3), x.widths};
  for (std::int64_t& width : wider.widths) width *= 2;
  module(std::move(wider));
}

TensorMap forward(const ShardFunction& module, WidthShard x) {
  const c10::NoGradGuard no_grad;
  return make_outcome(module(std::move(x)));
}

TensorMap backward(const ShardFunction& module, WidthShard x, const at::Tensor& grad_out, const LeafWeights& leaves,
                   Communicator& comm) {
  const at::Tensor leaf = x.columns.requires_grad_();
  const WidthShard out = module(std::move(x));
  TensorMap results = make_outcome(out);
  // A clone: what keeps the output's own memory after the call is a leak, not a result.
  results["out"] = results["out"].clone();
  // Another shape, or a missing graph, shows in the results.
  if (out.columns.requires_grad() && out.columns.sizes() == grad_out.sizes()) out.columns.backward(grad_out);
  results["x.grad"] = leaf.grad();
  // Each rank has its columns' part of a weight's gradient: the sum is the whole picture's.
  for (const auto& [name, part] : leaves.gradients()) results[name] = comm.collectives().all_reduce(part.contiguous());
  return results;
}

}  // namespace

bool keeps_its_input(const CaseInputs& inputs) {
  return find_module_kind(inputs) == ModuleKind::kGroupNorm;
}

TaskCall module_call(const ModuleMaker& make) {
  return [make](Communicator& whole_world, const CaseInputs& inputs) {
    Communicator comm = of_case(whole_world, inputs);
    // Cloned, as a module may overwrite its input; with channels last in memory, also where the inputs were sent.
    const auto picture = [&](const char* name) { return inputs.tensor(name).clone(at::MemoryFormat::ChannelsLast); };
    WidthShard x = {picture("input.x"), integers(inputs, "input.widths")};
    CheckpointWeights source(read_weights(inputs), "the serial module's parameters", x.columns.scalar_type());
    LeafWeights leaves(source, inputs.device);
    const ShardFunction module = [&] {
      const UnchargedScope parameters;  // which every rank has whole
      return make(Weights(leaves), inputs, comm);
    }();
    source.finish();
    if (inputs.numbers.count("after_wider") != 0) call_with_wider(module, x);
    if (inputs.numbers.count("only_difference_of_first_column") != 0)
      return difference_of_first_column(forward(module, std::move(x)).at("out"), comm);
    const at::Tensor kept = keeps_its_input(inputs) ? x.columns : at::Tensor();
    TensorMap results = inputs.tensors.count("input.grad_out") == 0
                            ? forward(module, std::move(x))
                            : backward(module, std::move(x), picture("input.grad_out"), leaves, comm);
    if (kept.defined()) results["x"] = kept.detach();
    return results;
  };
}

}  // namespace lab::vae
