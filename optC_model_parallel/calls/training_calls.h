#pragma once

#include <cstdint>
#include <string>

#include "common/rank/task_call.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training_record.h"

// Short trainings on the images of a case's inputs, with all of the student's code. The initial weights and the order
// of the images follow from the inputs' seed.
namespace lab::optc {

constexpr std::int64_t kNumTrainingEpochs = 2;
constexpr std::int64_t kTrainingMicroBatches = 5;  ///< in a pipeline: 32 images are not a multiple of it

/// A model with at least one layer for each of up to 8 ranks.
TrainingOptions pipeline_training_options(int num_ranks, std::uint64_t seed);

/// "losses", "test_losses" and "predictions", which only the last rank knows, and the record's parameters,
/// "epoch1.fc1.weight".
TensorMap pipeline_training_results(const TrainingRecord& record, bool is_last_rank);

/// Trains in a pipeline. The parameters are those of the whole model, on every rank.
TensorMap pipeline_training_trial(Communicator& comm, const CaseInputs& inputs);

/// The training of a model that the inputs' numbers describe.
TrainingOptions tensor_training_options(const std::string& model, const CaseInputs& inputs);

/// The call that trains this model in shards: list_tensors() its record.
TaskCall tensor_training_call(const std::string& model);

}  // namespace lab::optc
