#pragma once

#include <memory>

#include "optC_model_parallel/model/parallel/stashed_stages.h"
#include "optC_model_parallel/model/training/training_options.h"

// The two kinds of pipelines, with given stages; parallel_strategies.h makes them with balanced ones.
namespace lab::optc {

/// Computes all of a batch with the same weights: gpipe, 1f1b, interleaved.
std::unique_ptr<Strategy> synchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                               const PipelineOptions& pipeline, Communicator& comm);

/// 1F1B that is drained only at the end of train(): the next batches start while this one is in flight. Each batch has
/// `num_micro_batches` micro-batches.
std::unique_ptr<Strategy> asynchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                                std::int64_t num_micro_batches, const VersionRule& version_of,
                                                Communicator& comm);

/// The versions of an asynchronous schedule on one stage.
/// Errors    ContractError: a schedule that is not asynchronous
VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages);

}  // namespace lab::optc
