#include "optC_model_parallel/calls/calls.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <utility>

#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/calls/pipeline_part_trials.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"

namespace lab::optc {

bool is_statistic(const std::string& tensor_name) {
  return tensor_name.find("running_") != std::string::npos;
}

namespace {

/// Of a task whose function is f, g, or the sum within a region. Inputs "input.x", "input.grad_out"; results "out",
/// "x.grad", and "x" and "grad_out" as they are afterwards. Or "input.first.x", "input.second.x" and so on: called for
/// each, then backward from all. With the number "strided" none of them is contiguous.
TaskCall function_call(at::Tensor (*function)(const at::Tensor& x, Collectives& comm)) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const bool is_strided = inputs.numbers.count("strided") != 0;
    TensorMap results, leaves, outs;
    for (const std::string prefix : {"", "first.", "second.", "third."}) {
      if (inputs.tensors.count("input." + prefix + "x") == 0) continue;
      const at::Tensor x = inputs.tensor("input." + prefix + "x").clone();
      const at::Tensor grad_out = inputs.tensor("input." + prefix + "grad_out").clone();
      leaves[prefix] = (is_strided ? with_other_strides(x) : x).requires_grad_();
      results[prefix + "x"] = leaves[prefix].detach();
      results[prefix + "grad_out"] = is_strided ? with_other_strides(grad_out) : grad_out;
      outs[prefix] = function(leaves[prefix], comm.collectives());
    }
    // Copied when all are there, and before the backward pass: neither may change another's.
    for (const auto& [prefix, out] : outs) results[prefix + "out"] = out.defined() ? out.detach().clone() : out;
    // One after the other, so that all ranks call collectives in one order; and each gradient as the function returns
    // it, where a leaf would keep a copy.
    for (const auto& [prefix, out] : outs) {
      const at::Tensor& grad_out = results[prefix + "grad_out"];
      at::Tensor& x_grad = results[prefix + "x.grad"];
      if (can_go_backward(out, grad_out))
        x_grad = torch::autograd::grad({out}, {leaves[prefix]}, {grad_out}, {}, false, true).front();
    }
    return results;
  };
}

/// A layer's parallel version, called with the case's x and shards.
using ShardedForward = at::Tensor (*)(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm);

/// Errors    ResultError: a running statistic has changed where it must not, which autograd would say without its name
void check_statistics(const std::vector<std::string>& names, const Tensors& shards, const CaseInputs& inputs) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_statistic(names[i]) || inputs.integer("training") != 0) continue;
    if (!at::equal(shards[i], inputs.tensor("input." + names[i])))
      throw ResultError(names[i] + " has changed in evaluation");
  }
}

/// Of a task whose layer has tensors of these names. Inputs "input.x", "weight.<tensor>" (running statistics:
/// "input.<tensor>"), and for gradients "input.grad_out"; results "out", "x" and all tensors by their names as they are
/// afterwards, and with gradients "x.grad" and "<tensor>.grad".
TaskCall sharded_layer_call(const std::vector<std::string>& names, ShardedForward forward) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const bool with_gradient = inputs.tensors.count("input.grad_out") != 0;
    const c10::AutoGradMode grad_mode(with_gradient);
    const at::Tensor x = inputs.tensor("input.x").clone().requires_grad_(with_gradient);
    Tensors shards;
    for (const std::string& name : names) {
      shards.push_back(is_statistic(name) ? inputs.tensor("input." + name).clone()
                                          : inputs.tensor("weight." + name).clone().requires_grad_(with_gradient));
    }
    const at::Tensor out = forward(x, shards, inputs, comm.collectives());
    TensorMap results = {{"out", without_graph(out)}, {"x", x.detach()}};
    if (with_gradient) {
      check_statistics(names, shards, inputs);
      const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
      if (can_go_backward(out, grad_out)) out.backward(grad_out);
      results["x.grad"] = x.grad();
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      results[names[i]] = shards[i].detach();
      if (with_gradient && !is_statistic(names[i])) results[names[i] + ".grad"] = shards[i].grad();
    }
    return results;
  };
}

/// With the number "first_rows", also a layer of so many of this rank's neurons, with its outputs after the others.
at::Tensor column_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
  const bool gather_output = inputs.integer("gather_output") != 0;
  const at::Tensor out = column_parallel_linear(x, shards[0], shards[1], gather_output, comm);
  if (inputs.numbers.count("first_rows") == 0) return out;
  const std::int64_t rows = inputs.integer("first_rows");
  const at::Tensor more =
      column_parallel_linear(x, shards[0].narrow(0, 0, rows), shards[1].narrow(0, 0, rows), gather_output, comm);
  return out.defined() && more.defined() ? at::cat({out, more}, -1) : at::Tensor();
}

at::Tensor row_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
  return row_parallel_linear(x, shards[0], shards[1], comm);
}

at::Tensor norm_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
  return parallel_layer_norm(x, shards[0], shards[1], comm);
}

at::Tensor mlp_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
  return parallel_mlp(x, shards, comm);
}

at::Tensor norm_mlp_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
  return parallel_norm_mlp(x, shards, comm);
}

at::Tensor attention_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
  return parallel_attention(x, shards, inputs.integer("head_dim"), comm);
}

at::Tensor residual_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
  return parallel_residual(x, shards, inputs.integer("training") != 0 ? Mode::kTraining : Mode::kEvaluation, comm);
}

TaskCall column_row_call() {
  const TaskCall pair = sharded_layer_call(kMlpTensors, mlp_forward);
  const TaskCall pair_with_norm = sharded_layer_call(kNormMlpTensors, norm_mlp_forward);
  return [=](Communicator& comm, const CaseInputs& inputs) {
    return inputs.tensors.count("weight.norm.weight") == 0 ? pair(comm, inputs) : pair_with_norm(comm, inputs);
  };
}

TensorMap pass_call(Communicator& comm, const CaseInputs& inputs) {
  return pass_trial(comm, inputs, gpipe);
}

/// For tasks with two kinds of cases: the call for cases with images for a pipeline, or the other one.
TaskCall with_images(TaskCall with, TaskCall without) {
  return [with = std::move(with), without = std::move(without)](Communicator& comm, const CaseInputs& inputs) {
    return (inputs.tensors.count("input.pixels") != 0 ? with : without)(comm, inputs);
  };
}

}  // namespace

CallTable calls() {
  return {{"optC.split_layers", split_trial},
          {"optC.micro_batches", cut_trial},
          {"optC.micro_batch_loss", loss_trial},
          {"optC.stage", stage_trial},
          {"optC.recompute", with_images(pass_call, stage_trial)},
          {"optC.gpipe", with_images(pass_call, gpipe_alone_trial)},
          {"optC.pipeline_training", pipeline_training_trial},
          {"optC.one_forward_one_backward", pass_call},
          {"optC.interleaved", pass_call},
          {"optC.weight_versions", versions_trial},
          {"optC.pipedream", with_images(stale_trial, stage_versions_trial)},
          {"optC.vertical_sync", with_images(stale_trial, synced_versions_trial)},
          {"optC.pipedream_2bw", with_images(stale_trial, two_versions_trial)},
          {"optC.copy_to_region", function_call(copy_to_region)},
          {"optC.reduce_from_region", function_call(reduce_from_region)},
          {"optC.reduce_within_region", function_call(reduce_within_region)},
          {"optC.column_linear", sharded_layer_call(kWeightAndBias, column_forward)},
          {"optC.row_linear", sharded_layer_call(kWeightAndBias, row_forward)},
          {"optC.parallel_layer_norm", sharded_layer_call(kWeightAndBias, norm_forward)},
          {"optC.parallel_mlp", sharded_layer_call(kMlpTensors, mlp_forward)},
          {"optC.parallel_norm_mlp", sharded_layer_call(kNormMlpTensors, norm_mlp_forward)},
          {"optC.column_row", column_row_call()},
          {"optC.parallel_attention", sharded_layer_call(kAttentionTensors, attention_forward)},
          {"optC.parallel_residual", sharded_layer_call(kResidualTensors, residual_forward)},
          {"optC.tensor_training", tensor_training_call("pair-norm")},
          {"optC.transformer_training", tensor_training_call("vit")},
          {"optC.resnet_training", tensor_training_call("resnet")}};
}

}  // namespace lab::optc
