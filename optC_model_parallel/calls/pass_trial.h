#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/pipeline/run_schedule.h"
#include "common/rank/task_call.h"
#include "optC_model_parallel/model/parallel/stages.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {

/// Mini-batches of this size, and steps as large as the schedules tolerate, so that mixed-up versions give different
/// weights.
TrainingOptions stale_training(std::int64_t batch_size, std::uint64_t seed);

constexpr std::int64_t kFirstSteps = 9;  ///< then the pipeline is drained, and training continues

/// Trains in two parts, so that a pipeline is drained once in between; returns the losses of all steps, where known.
std::vector<double> train_in_two(Strategy& strategy, const Images& images, const TrainingOptions& options);

/// Such a training of plan_of_trial(), with mini-batches of the inputs' "batch_size", in a pipeline that is not drained
/// between batches. Results: this rank's weights; on the last rank the losses.
TensorMap stale_trial(Communicator& comm, const CaseInputs& inputs);

}  // namespace lab::optc

// Trials of one batch, forward and backward.
namespace lab::optc {

/// gpipe() and nothing else of the lab: stages that return "input.output<i>" and "input.input_grad<i>" for micro-batch
/// i. Results: what each was given, "input<i>" (not on the first stage) and "output_grad<i>" (not on the last), and how
/// often anything was; the numbers of passes; and how many forward passes came before each micro-batch's backward pass.
TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs);

/// The shape of what stage - 1 sends to `stage` there, and of what comes back: a different one for each pair of stages
/// and each of three micro-batches, of which the third has no images.
std::vector<std::int64_t> alone_shape(int stage, int micro_batch);

/// gpipe(), or a replacement.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// The inputs' batch through plan_of_trial(). With 1F1B and interleaved, `gpipe` is not called. Results: the loss, on the
/// last rank; the gradients of this rank's weights; how many micro-batches were live, at most and at the end, as the
/// stages themselves have it.
TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
