#include "optC_model_parallel/calls/calls.h"

#include <c10/core/GradMode.h>

#include <functional>

#include "common/rank/function_call.h"
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

/// A layer's parallel version, called with the case's x and shards.
using ShardedForward =
    std::function<at::Tensor(const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm)>;

/// Of a task whose layer has tensors of these names. Inputs "input.x", "weight.<tensor>" (running statistics:
/// "input.<tensor>"), and for gradients "input.grad_out"; results "out", "x" and all tensors by their names as they are
/// afterwards, and with gradients "x.grad" and "<tensor>.grad".
/// Errors    ResultError: a running statistic has changed where it must not, which autograd would say without its name
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
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_statistic(names[i]) && inputs.integer("training") == 0 &&
            !at::equal(shards[i], inputs.tensor("input." + names[i])))
          throw ResultError(names[i] + " has changed in evaluation");
      }
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

const ShardedForward kRow = [](auto& x, auto& shards, auto&, auto& comm) {
  return row_parallel_linear(x, shards[0], shards[1], comm);
};
const ShardedForward kNorm = [](auto& x, auto& shards, auto&, auto& comm) {
  return parallel_layer_norm(x, shards[0], shards[1], comm);
};
const ShardedForward kMlp = [](auto& x, auto& shards, auto&, auto& comm) { return parallel_mlp(x, shards, comm); };
const ShardedForward kNormMlp = [](auto& x, auto& shards, auto&, auto& comm) {
  return parallel_norm_mlp(x, shards, comm);
};
const ShardedForward kAttention = [](auto& x, auto& shards, auto& inputs, auto& comm) {
  return parallel_attention(x, shards, inputs.integer("head_dim"), comm);
};
const ShardedForward kResidual = [](auto& x, auto& shards, auto& inputs, auto& comm) {
  const Mode mode = inputs.integer("training") != 0 ? Mode::kTraining : Mode::kEvaluation;
  return parallel_residual(x, shards, mode, comm);
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
  CallTable table = part_calls();
  table["optC.gpipe"] = gpipe_alone_call;
  for (const char* task : {"optC.recompute", "optC.gpipe"}) table[task] = choose("input.pixels", pass, table[task]);
  for (const char* task : {"optC.pipedream", "optC.vertical_sync", "optC.pipedream_2bw"})
    table[task] = choose("input.pixels", stale_call, table[task]);
  table.merge(CallTable{{"optC.one_forward_one_backward", pass},
                        {"optC.interleaved", pass},
                        {"optC.pipeline_training", pipeline_training_call},
                        {"optC.broadcast_parallel", function_call(broadcast_parallel)},
                        {"optC.reduce_parallel", function_call(reduce_parallel)},
                        {"optC.reduce_within_region", function_call(reduce_within_region)},
                        {"optC.column_linear", layer_call(kWeightAndBias, column_forward)},
                        {"optC.row_linear", layer_call(kWeightAndBias, kRow)},
                        {"optC.parallel_layer_norm", layer_call(kWeightAndBias, kNorm)},
                        {"optC.parallel_mlp", layer_call(kMlpTensors, kMlp)},
                        {"optC.parallel_norm_mlp", layer_call(kNormMlpTensors, kNormMlp)},
                        {"optC.column_row", choose("weight.norm.weight", layer_call(kNormMlpTensors, kNormMlp),
                                                   layer_call(kMlpTensors, kMlp))},
                        {"optC.parallel_attention", layer_call(kAttentionTensors, kAttention)},
                        {"optC.parallel_residual", layer_call(kResidualTensors, kResidual)},
                        {"optC.tensor_training", tensor_training_call("pair-norm")},
                        {"optC.transformer_training", tensor_training_call("vit")},
                        {"optC.resnet_training", tensor_training_call("resnet")}});
  return table;
}

}  // namespace lab::optc
