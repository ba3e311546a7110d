#pragma once

#include <memory>

#include "optC_model_parallel/commands/training_options.h"
#include "optC_model_parallel/model/parallel/stashed_stages.h"

// The two kinds of pipelines, with stages as given; parallel_strategies.h makes them with balanced ones.
namespace lab::optc {

/// All of a batch with the same weights: gpipe, 1f1b, interleaved.
std::unique_ptr<Strategy> synchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                               const PipelineOptions& pipeline, Communicator& comm);

/// 1F1B that is drained at the end of train() only: the next batches begin while this one is under way. Each batch has
/// so many micro-batches.
std::unique_ptr<Strategy> asynchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                                std::int64_t num_micro_batches, const VersionRule& version_of,
                                                Communicator& comm);

/// The versions of an asynchronous schedule on one stage.
/// Errors    ContractError: a schedule that is not asynchronous
VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages);

}  // namespace lab::optc
