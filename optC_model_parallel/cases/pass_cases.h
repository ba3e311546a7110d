#pragma once

#include <functional>
#include <vector>

#include "common/checks/case.h"
#include "common/pipeline/run_schedule.h"

namespace lab::optc {

/// gpipe(), or a replacement.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// gpipe() and nothing else of the lab: stages that only check what they are given. Messages are integers, with a
/// different shape for each pair of stages and each micro-batch.
Case gpipe_alone_case();
TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what is sent.
/// GPipe with micro-batches of every kind.
std::vector<Case> gpipe_cases();
/// The same with 1F1B and interleaved.
std::vector<Case> schedule_cases();

/// The trial of such a case, with the student's stages. With 1F1B and interleaved, `gpipe` is not called.
TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
