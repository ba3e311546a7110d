#pragma once

#include <functional>

#include "common/pipeline/run_schedule.h"
#include "common/rank/task_call.h"

// Trials of one batch, forward and backward.
namespace lab::optc {

/// gpipe(), or a replacement.
using GpipeFunction =
    std::function<void(pipeline::StageWork&, PointToPoint&, int num_micro_batches, const pipeline::Buffers&)>;

/// gpipe() and nothing else of the lab: stages that only check what they are given. Messages are integers, with a
/// different shape for each pair of stages and each micro-batch. Results: how many inputs were wrong, how many backward
/// passes came before the last forward pass, and the numbers of both.
TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

/// The inputs' batch through uneven_plan(), with the student's stages. With 1F1B and interleaved, `gpipe` is not called.
/// Results: the loss, on the last rank; the gradients of this rank's weights; how many micro-batches were live, at most
/// and at the end.
TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
