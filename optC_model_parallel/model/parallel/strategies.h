#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "optC_model_parallel/model/parallel/stages.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

/// gpipe 1f1b interleaved (same weights as in one process), pipedream pipedream-sync pipedream-2bw (stale weights).
const std::vector<std::string>& schedule_names();
bool is_asynchronous(const std::string& schedule);

/// Checks, without building it, that a model can be trained this way on that many ranks.
/// Errors    UsageError: a model that is not for pipelines; more stages than layers, with the model that has enough;
///           chunks with a schedule other than interleaved; interleaved with micro-batches that are not a multiple of
///           the ranks; pipedream-2bw with fewer micro-batches than ranks; recompute with stale weights
void check_pipeline(const TrainingOptions& options, const PipelineOptions& pipeline, int num_ranks);

/// Errors    UsageError: a model that is not for tensor parallelism; a width that does not divide by the ranks, with
///           the numbers of ranks that would work
void check_tensor(const TrainingOptions& options, int num_ranks);

/// The model in balanced stages, one process each; uses only PointToPoint.
std::unique_ptr<Strategy> pipeline_parallel(const TrainingOptions& options, const PipelineOptions& pipeline,
                                            Communicator& comm);

/// The same with given stages. An asynchronous schedule is drained only at the end of train(): the next batches start
/// while one is in flight.
std::unique_ptr<Strategy> pipeline_in_stages(const StagePlan& plan, const TrainingOptions& options,
                                             const PipelineOptions& pipeline, Communicator& comm);

/// Every layer split into shards, one on each rank.
std::unique_ptr<Strategy> tensor_parallel(const TrainingOptions& options, Communicator& comm);

/// The versions of an asynchronous schedule on one stage.
/// Errors    ContractError: a schedule that is not asynchronous
VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages);

}  // namespace lab::optc
