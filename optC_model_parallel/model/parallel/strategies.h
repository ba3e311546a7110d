#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "optC_model_parallel/model/parallel/stages.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

/// gpipe 1f1b interleaved (same weights as in one process), pipedream pipedream-sync pipedream-2bw (stale weights).
const std::vector<std::string>& schedule_names();
bool is_asynchronous(const std::string& schedule);

/// Checks, without building it, that a model can be trained this way on that many ranks. `has_model_option`: whether
/// the command that shows the messages has --model.
/// Errors    UsageError: a model that is not for pipelines; more stages than layers, with the model that has enough;
///           chunks with a schedule other than interleaved; interleaved with micro-batches that are not a multiple of
///           the ranks; pipedream-2bw with fewer micro-batches than ranks; recompute with stale weights
void check_pipeline(const TrainingOptions& options, const PipelineOptions& pipeline, int num_ranks,
                    bool has_model_option = true);

/// The model in stages, one process each; uses only PointToPoint.
std::unique_ptr<Strategy> pipeline_parallel(const TrainingOptions& options, const PipelineOptions& pipeline,
                                            Communicator& comm);

/// Errors    UsageError: a model that is not for tensor parallelism; a width that does not divide by the ranks, with
///           the numbers of ranks that would work
void check_tensor(const TrainingOptions& options, int num_ranks, bool has_model_option = true);

/// Every layer split into shards, one on each rank.
std::unique_ptr<Strategy> tensor_parallel(const TrainingOptions& options, Communicator& comm);

// The two kinds of pipelines, with given stages; parallel_strategies.h makes them with balanced ones.

/// Computes all of a batch with the same weights: gpipe, 1f1b, interleaved.
std::unique_ptr<Strategy> synchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                               const PipelineOptions& pipeline, Communicator& comm);

/// 1F1B that is drained only at the end of train(): the next batches start while this one is in flight. Each batch has
/// `num_micro_batches` micro-batches.
std::unique_ptr<Strategy> asynchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                                std::int64_t num_micro_batches, const VersionRule& find_version,
                                                Communicator& comm);

/// The versions of an asynchronous schedule on one stage.
/// Errors    ContractError: a schedule that is not asynchronous
VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages);

}  // namespace lab::optc
