#include "optC_model_parallel/tensor_calls.h"

#include "optC_model_parallel/function_call.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/sharded_layer.h"
#include "optC_model_parallel/sharded_layer_call.h"
#include "optC_model_parallel/tensor_training_cases.h"

namespace lab::optc {
namespace {

at::Tensor column_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
  return column_parallel_linear(x, shards[0], shards[1], inputs.whole("gather_output") != 0, comm);
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
  return parallel_attention(x, shards, inputs.whole("head_dim"), comm);
}

at::Tensor residual_forward(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
  return parallel_residual(x, shards, inputs.whole("training") != 0 ? Mode::kTraining : Mode::kEvaluation, comm);
}

TaskCall column_row_call() {
  const TaskCall pair = sharded_layer_call(kMlpTensors, mlp_forward);
  const TaskCall pair_with_norm = sharded_layer_call(kNormMlpTensors, norm_mlp_forward);
  return [=](Communicator& comm, const CaseInputs& inputs) {
    return inputs.tensors.count("weight.norm.weight") == 0 ? pair(comm, inputs) : pair_with_norm(comm, inputs);
  };
}

}  // namespace

CallTable tensor_calls() {
  return {{"optC.copy_to_region", function_call(copy_to_region)},
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
