#pragma once

#include <functional>
#include <vector>

#include "common/checks/case.h"
#include "optC_model_parallel/commands/training_options.h"
#include "optC_model_parallel/model/parallel/stashed_stages.h"

namespace lab::optc {

/// Some mini-batches through pipelines that are not drained between them: weights and losses, compared with an
/// emulation in one process, and what is sent.
std::vector<Case> stale_cases();

/// Which versions a stage uses: version_rule(), or a replacement.
using MakeVersionRule = std::function<VersionRule(const PipelineOptions&, int stage, int num_stages)>;
TensorMap stale_trial(Communicator& comm, const CaseInputs& inputs, const MakeVersionRule& make_rule);

}  // namespace lab::optc
