#pragma once

#include <functional>
#include <vector>

#include "common/checks/case.h"
#include "common/pipeline/run_schedule.h"

namespace lab::optc {

/// gpipe(), or what stands in its place.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// gpipe() and nothing else of the lab: stages that only look at what they are given. Messages are integers, of
/// another shape between any two stages and for any two micro-batches.
Case gpipe_alone_case();
TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what travels.
/// GPipe with micro-batches of every kind.
std::vector<Case> gpipe_cases();
/// The same with 1F1B and interleaved.
std::vector<Case> schedule_cases();

/// What such a case asks for, with the student's stages. With 1F1B and interleaved, `gpipe` is not called.
TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
