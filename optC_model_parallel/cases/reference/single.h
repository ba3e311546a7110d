#pragma once

#include <memory>
#include <vector>

#include "common/api/partition.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

// What the trainings of ranks are compared with. The program of a judged rank does not have it.

/// The model named by the options, with its initial weights.
Learner whole_learner(const TrainingOptions& options);

/// The yardstick: the whole model in one process, each batch as a whole.
std::unique_ptr<Strategy> single_process(const TrainingOptions& options);

/// The whole model in one process, but each update uses gradients of the stale weights that the ranks of an
/// asynchronous pipeline would have used: by formula, with the history of weights at hand. `stages` are the layers of
/// each rank, `learner` has all of them. The pipeline is empty at the beginning of each call of train().
/// Errors    UsageError: a schedule that is not asynchronous; ContractError: stages that do not form the whole model
std::unique_ptr<Strategy> stale_weights(const TrainingOptions& options, const PipelineOptions& pipeline,
                                        const std::vector<Slice>& stages, Learner learner);

}  // namespace lab::optc
