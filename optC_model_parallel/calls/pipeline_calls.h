#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/pipeline/run_schedule.h"
#include "common/rank/task_call.h"
#include "optC_model_parallel/model/parallel/strategies.h"

// What the calls of pipelines and trainings have in common with their cases, and these calls. Images are on the CPU,
// what is computed from them where the case is run.
namespace lab::optc {

/// A model for checks, in stages: small layers, each of a different width, so that the messages between two stages are
/// unlike those between any others, in uneven stages. Or wide layers, `long_layers` in each stage, which compute for
/// equally long, and many times as long as their messages take in model time. Layers are smooth: a wrong gradient is
/// wrong everywhere.
StagePlan chain_plan(int num_ranks, int num_chunks, std::int64_t long_layers = 0);

/// "input.train.pixels", "input.train.labels", "input.test.pixels", "input.test.labels"; and back.
TensorMap make_inputs(const Dataset& data);
Dataset make_dataset(const CaseInputs& inputs);

/// The shape of what stage - 1 sends to `stage` in gpipe_alone_call(), and of what comes back: a different one for each
/// pair of stages and each of three micro-batches, of which the third has no images.
std::vector<std::int64_t> alone_shape(int stage, int micro_batch);

/// gpipe() and nothing else of the lab: stages that return "input.output<i>" and "input.input_grad<i>" for micro-batch
/// i. Results: what each was given, "input<i>" (not on the first stage) and "output_grad<i>" (not on the last), and how
/// often anything was; the numbers of passes; and how many forward passes came before each micro-batch's backward pass.
TensorMap gpipe_alone_call(Communicator& comm, const CaseInputs& inputs);

/// gpipe(), or a replacement.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// The inputs' batch "input.pixels", "input.labels" through the chain_plan() that they name, forward and back. With 1F1B
/// and interleaved, `gpipe` is not called. Results: the loss, on the last rank; the gradients of this rank's weights; how
/// many micro-batches were live, at most and at the end, as the stages themselves have it.
TensorMap pass_call(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

/// Mini-batches of this size, and steps as large as the schedules tolerate, so that mixed-up versions give different
/// weights.
TrainingOptions stale_training(std::int64_t batch_size, std::uint64_t seed);

constexpr std::int64_t kFirstSteps = 9;  ///< then the pipeline is drained, and training continues

/// Trains in two parts, so that a pipeline is drained once in between; returns the losses of all steps, where known.
std::vector<double> train_in_two(Strategy& strategy, const Images& images, const TrainingOptions& options);

/// Such a training in the inputs' chain_plan(), with mini-batches of "batch_size", in a pipeline that is not drained
/// between batches. Results: this rank's weights; on the last rank the losses.
TensorMap stale_call(Communicator& comm, const CaseInputs& inputs);

// Short trainings with all of the student's code. The initial weights and the order of the images follow from the
// inputs' seed. Results: list_tensors() of the record.

constexpr std::int64_t kNumTrainingEpochs = 2;
constexpr std::int64_t kTrainingMicroBatches = 5;  ///< in a pipeline: 32 images are not a multiple of it

/// A model with at least one layer for each of up to 8 ranks.
TrainingOptions pipeline_training_options(int num_ranks, std::uint64_t seed);

/// In a pipeline, only the last rank knows more than parameters: the other ranks' results are without it.
TensorMap pipeline_training_results(const TrainingRecord& record, bool is_last_rank);

/// Trains in a pipeline. The parameters are those of the whole model, on every rank.
TensorMap pipeline_training_call(Communicator& comm, const CaseInputs& inputs);

/// The training of a model that the inputs' numbers describe, and the call that trains it in shards.
TrainingOptions tensor_training_options(const std::string& model, const CaseInputs& inputs);
TaskCall tensor_training_call(const std::string& model);

}  // namespace lab::optc
