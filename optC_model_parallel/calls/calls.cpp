#include "optC_model_parallel/calls/calls.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>

#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"

namespace lab::optc {

namespace {

/// A running statistic, which does not learn.
bool is_statistic(const std::string& tensor_name) {
  return tensor_name.find("running_") != std::string::npos;
}

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
using ShardedForward =
    std::function<at::Tensor(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm)>;

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
TaskCall layer_call(const std::vector<std::string>& names, const ShardedForward& forward) {
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

const ShardedForward kMlp = [](auto& x, auto& shards, auto&, auto& comm) { return parallel_mlp(x, shards, comm); };
const ShardedForward kNormMlp = [](auto& x, auto& shards, auto&, auto& comm) {
  return parallel_norm_mlp(x, shards, comm);
};

/// For tasks with two kinds of cases: the call for those that have this input, or the other one.
TaskCall choose(const std::string& input, const TaskCall& with, const TaskCall& without) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    return (inputs.tensors.count(input) != 0 ? with : without)(comm, inputs);
  };
}

}  // namespace

CallTable calls() {
  const TaskCall pass = [](Communicator& comm, const CaseInputs& inputs) { return pass_call(comm, inputs, gpipe); };
  const std::string pixels = "input.pixels";
  return {
      {"optC.split_layers", split_call},
      {"optC.micro_batches", cut_call},
      {"optC.micro_batch_loss", loss_call},
      {"optC.stage", stage_call},
      {"optC.recompute", choose(pixels, pass, stage_call)},
      {"optC.gpipe", choose(pixels, pass, gpipe_alone_call)},
      {"optC.pipeline_training", pipeline_training_call},
      {"optC.one_forward_one_backward", pass},
      {"optC.interleaved", pass},
      {"optC.weight_versions", weight_versions_call},
      {"optC.pipedream", choose(pixels, stale_call, pipedream_call)},
      {"optC.vertical_sync", choose(pixels, stale_call, vertical_sync_call)},
      {"optC.pipedream_2bw", choose(pixels, stale_call, pipedream_2bw_call)},
      {"optC.copy_to_region", function_call(copy_to_region)},
      {"optC.reduce_from_region", function_call(reduce_from_region)},
      {"optC.reduce_within_region", function_call(reduce_within_region)},
      {"optC.column_linear", layer_call(kWeightAndBias, column_forward)},
      {"optC.row_linear", layer_call(kWeightAndBias,
                                     [](auto& x, auto& shards, auto&, auto& comm) {
                                       return row_parallel_linear(x, shards[0], shards[1], comm);
                                     })},
      {"optC.parallel_layer_norm", layer_call(kWeightAndBias,
                                              [](auto& x, auto& shards, auto&, auto& comm) {
                                                return parallel_layer_norm(x, shards[0], shards[1], comm);
                                              })},
      {"optC.parallel_mlp", layer_call(kMlpTensors, kMlp)},
      {"optC.parallel_norm_mlp", layer_call(kNormMlpTensors, kNormMlp)},
      {"optC.column_row",
       choose("weight.norm.weight", layer_call(kNormMlpTensors, kNormMlp), layer_call(kMlpTensors, kMlp))},
      {"optC.parallel_attention", layer_call(kAttentionTensors,
                                             [](auto& x, auto& shards, auto& inputs, auto& comm) {
                                               return parallel_attention(x, shards, inputs.integer("head_dim"), comm);
                                             })},
      {"optC.parallel_residual",
       layer_call(kResidualTensors,
                  [](auto& x, auto& shards, auto& inputs, auto& comm) {
                    const Mode mode = inputs.integer("training") != 0 ? Mode::kTraining : Mode::kEvaluation;
                    return parallel_residual(x, shards, mode, comm);
                  })},
      {"optC.tensor_training", tensor_training_call("pair-norm")},
      {"optC.transformer_training", tensor_training_call("vit")},
      {"optC.resnet_training", tensor_training_call("resnet")}};
}

}  // namespace lab::optc
