#pragma once

#include <string>
#include <vector>

#include "common/rank/task_call.h"

namespace lab::optc {

// The tensors of each kind of layer, as blocks.h names and orders them.
inline const std::vector<std::string> kWeightAndBias = {"weight", "bias"};
inline const std::vector<std::string> kMlpTensors = {"fc_in.weight", "fc_in.bias", "fc_out.weight", "fc_out.bias"};
inline const std::vector<std::string> kNormMlpTensors = {"fc_in.weight", "fc_in.bias",    "norm.weight",
                                                         "norm.bias",    "fc_out.weight", "fc_out.bias"};
inline const std::vector<std::string> kAttentionTensors = {"q.weight", "k.weight", "v.weight", "q.bias",
                                                           "k.bias",   "v.bias",   "o.weight", "o.bias"};
inline const std::vector<std::string> kResidualTensors = {"conv_in.weight",    "norm.weight",      "norm.bias",
                                                          "norm.running_mean", "norm.running_var", "conv_out.weight",
                                                          "conv_out.bias"};

/// Task id -> student function.
CallTable calls();

/// One integer as a result.
inline at::Tensor make_count(std::int64_t value) {
  return at::full({1}, value, at::kLong);
}

// The pipeline's functions that need no other rank. Each call computes a case's results from its inputs.

/// split_layers(). Inputs: rows of costs, and the number of layers and stages of each row. Results: each row's most
/// expensive stage, and the faults of its stages: missing layers, layers in two stages, stages without a layer.
TensorMap split_call(Communicator&, const CaseInputs& inputs);

/// micro_batches(). Results: where micro-batch i of m begins in a batch of B, and its size, at [B, m - 1, i]; the
/// numbers of slices at [B, m - 1].
TensorMap cut_call(Communicator&, const CaseInputs& inputs);

/// micro_batch_loss(). Results: the parts, and all gradients of the logits.
TensorMap loss_call(Communicator&, const CaseInputs& inputs);

/// LiveMicroBatches. Micro-batches of several sizes that come back in a different order; first through a middle stage,
/// then through the last one. Results: outputs, gradients, how many were live when, how often the stages were computed.
/// With recompute: how many bytes are kept between forward and backward in addition to the input.
TensorMap stage_call(Communicator&, const CaseInputs& inputs);

/// WeightVersions. Stages in 1F1B, one after the other. Results: the weights that each micro-batch got, forward and
/// backward, how often these were the same tensors, and the largest numbers of versions kept.
TensorMap weight_versions_call(Communicator&, const CaseInputs& inputs);

// The functions of pipedream.h. Result: the versions of all micro-batches, at [p - 1, stage, i], -1 where there is no
// such stage; or at [p - 1, i]; or at [m - 1, i].
TensorMap pipedream_call(Communicator&, const CaseInputs& inputs);
TensorMap vertical_sync_call(Communicator&, const CaseInputs& inputs);
TensorMap pipedream_2bw_call(Communicator&, const CaseInputs& inputs);

}  // namespace lab::optc
