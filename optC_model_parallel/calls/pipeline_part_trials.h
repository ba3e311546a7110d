#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/rank/task_call.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model.h"

// Trials of the functions that need no other rank: the student's, and in tests wrong ones. Each trial computes
// a case's results from its inputs.
namespace lab::optc {

/// split_layers(). Inputs: rows of costs, and the number of layers and stages of each row. Results: each row's most
/// expensive stage, and the faults of its stages: missing layers, layers in two stages, stages without a layer.
using SplitFunction = std::function<std::vector<Slice>(const std::vector<double>& costs, int num_stages)>;
TensorMap split_trial(const CaseInputs& inputs, const SplitFunction& split);

/// micro_batches(). Results: where micro-batch i of m begins in a batch of B, and its size, at [B, m - 1, i]; the
/// numbers of slices at [B, m - 1].
using CutFunction = std::function<std::vector<Slice>(std::int64_t batch_size, std::int64_t num_micro_batches)>;
TensorMap cut_trial(const CaseInputs& inputs, const CutFunction& cut);

/// micro_batch_loss(). Results: the parts, and all gradients of the logits.
using LossFunction =
    std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels, std::int64_t batch_size)>;
TensorMap loss_trial(const CaseInputs& inputs, const LossFunction& loss);

/// LiveMicroBatches, or a replacement.
struct LiveUnderTest {
  std::function<at::Tensor(int micro_batch, const at::Tensor& input, const StageFunction& function)> forward;
  std::function<at::Tensor(int micro_batch, const at::Tensor& output_grad)> backward;
  std::function<std::size_t()> size;
};
using MakeLive = std::function<LiveUnderTest(bool recompute)>;

/// Micro-batches of several sizes that come back in a different order; first through a middle stage, then through the
/// last one. Results: outputs, gradients, how many were live when, how often the stages were computed. With recompute:
/// how many bytes are kept between forward and backward in addition to the input.
TensorMap stage_trial(const CaseInputs& inputs, const MakeLive& make);

/// WeightVersions, or a replacement.
struct VersionsUnderTest {
  std::function<const Parameters&(std::int64_t micro_batch, std::int64_t version)> start;
  std::function<const Parameters&(std::int64_t micro_batch)> of;
  std::function<void(std::int64_t micro_batch)> finish;
  std::function<void(Parameters next)> add;
  std::function<std::size_t()> num_kept;
};
using MakeVersions = std::function<VersionsUnderTest(Parameters first)>;

/// Stages in 1F1B, one after the other. Results: the weights that each micro-batch got, forward and backward, how often
/// these were the same tensors, and the largest number of versions kept during a forward pass.
TensorMap versions_trial(const CaseInputs& inputs, const MakeVersions& make);

/// The functions of pipedream.h. Result: the versions of all micro-batches, at [p - 1, stage, i], -1 where there is no
/// such stage; or at [p - 1, i]; or at [m - 1, i].
using StageVersion = std::function<std::int64_t(std::int64_t mini_batch, int stage, int num_stages)>;
TensorMap stage_versions_trial(const CaseInputs& inputs, const StageVersion& version_of);
using SyncedVersion = std::function<std::int64_t(std::int64_t mini_batch, int num_stages)>;
TensorMap synced_versions_trial(const CaseInputs& inputs, const SyncedVersion& version_of);
using MicroBatchVersion = std::function<std::int64_t(std::int64_t micro_batch, std::int64_t per_mini_batch)>;
TensorMap two_versions_trial(const CaseInputs& inputs, const MicroBatchVersion& version_of);

}  // namespace lab::optc
