#pragma once

#include <functional>

#include "common/lab/case.h"
#include "common/pipeline/run_schedule.h"

namespace lab::optc {

/// gpipe(), or what stands in its place.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// gpipe() and nothing else of the lab: stages that only look at what they are given. Messages are whole numbers, of
/// another shape between any two stages and for any two micro-batches.
Case gpipe_alone_case();
TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
