#pragma once

#include "common/rank/task_call.h"

// Trials of the functions that need no other rank. Each computes a case's results from its inputs.
namespace lab::optc {

/// split_layers(). Inputs: rows of costs, and the number of layers and stages of each row. Results: each row's most
/// expensive stage, and the faults of its stages: missing layers, layers in two stages, stages without a layer.
TensorMap split_trial(Communicator&, const CaseInputs& inputs);

/// micro_batches(). Results: where micro-batch i of m begins in a batch of B, and its size, at [B, m - 1, i]; the
/// numbers of slices at [B, m - 1].
TensorMap cut_trial(Communicator&, const CaseInputs& inputs);

/// micro_batch_loss(). Results: the parts, and all gradients of the logits.
TensorMap loss_trial(Communicator&, const CaseInputs& inputs);

/// LiveMicroBatches. Micro-batches of several sizes that come back in a different order; first through a middle stage,
/// then through the last one. Results: outputs, gradients, how many were live when, how often the stages were computed.
/// With recompute: how many bytes are kept between forward and backward in addition to the input.
TensorMap stage_trial(Communicator&, const CaseInputs& inputs);

/// WeightVersions. Stages in 1F1B, one after the other. Results: the weights that each micro-batch got, forward and
/// backward, how often these were the same tensors, and the largest number of versions kept during a forward pass.
TensorMap versions_trial(Communicator&, const CaseInputs& inputs);

// The functions of pipedream.h. Result: the versions of all micro-batches, at [p - 1, stage, i], -1 where there is no
// such stage; or at [p - 1, i]; or at [m - 1, i].
TensorMap stage_versions_trial(Communicator&, const CaseInputs& inputs);
TensorMap synced_versions_trial(Communicator&, const CaseInputs& inputs);
TensorMap two_versions_trial(Communicator&, const CaseInputs& inputs);

}  // namespace lab::optc
