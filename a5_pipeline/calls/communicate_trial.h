#pragma once

#include <functional>

#include "a5_pipeline/pipeline_communicate.h"
#include "common/rank/task_call.h"

namespace lab::a5 {

/// pipeline_communicate(), or a replacement.
using CommunicateFunction =
    std::function<at::Tensor(PipelineOperation, PointToPoint&, const PipelineArguments&, const at::Tensor& tensor)>;

/// All four messages of a stage. Results: "input" and "output_grad", zeros where nothing was received; "output" and
/// "input_grad", which were sent, as they are afterwards; "returned": of the two receives, whether they returned a
/// tensor and whether it requires a gradient; of the two sends, whether they returned one.
/// Errors    ResultError: both receives returned the same memory
TensorMap communicate_trial(Communicator& comm, const CaseInputs& inputs, const CommunicateFunction& communicate);

}  // namespace lab::a5
