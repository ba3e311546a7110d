#pragma once

#include <functional>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "common/pipeline/generators.h"
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

/// Task id -> student function.
CallTable calls();

/// The model and the schedule that a case's inputs describe.
PipelineArguments arguments_of(const CaseInputs& inputs);
pipeline::ScheduleOptions schedule_of(const CaseInputs& inputs, int num_ranks);

/// A pipeline's results under the names that the cases expect.
TensorMap results_of(const PipelineResult& pipelined, const Communicator& comm);

}  // namespace lab::a5
