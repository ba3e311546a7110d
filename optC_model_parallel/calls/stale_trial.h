#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/rank/task_call.h"
#include "optC_model_parallel/model/parallel/pipeline_strategy.h"

namespace lab::optc {

/// Mini-batches of this size, and steps as large as the schedules tolerate, so that mixed-up versions give different
/// weights.
TrainingOptions stale_training(std::int64_t batch_size, std::uint64_t seed);

constexpr std::int64_t kFirstSteps = 9;  ///< then the pipeline is drained, and training continues

/// Trains in two parts, so that a pipeline is drained once in between; returns the losses of all steps, where known.
std::vector<double> train_in_two(Strategy& strategy, const Images& images, const TrainingOptions& options);

/// Which versions a stage uses: version_rule(), or a replacement.
using MakeVersionRule = std::function<VersionRule(const PipelineOptions&, int stage, int num_stages)>;

/// Such a training of plan_of_trial(), with mini-batches of the inputs' "batch_size", in a pipeline that is not drained between batches. Results: this rank's weights;
/// on the last rank the losses.
TensorMap stale_trial(Communicator& comm, const CaseInputs& inputs, const MakeVersionRule& make_rule);

}  // namespace lab::optc
