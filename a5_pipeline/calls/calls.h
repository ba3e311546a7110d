#pragma once

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/calls/pipelined_model.h"
#include "common/pipeline/generators.h"
#include "common/rank/task_call.h"

namespace lab::a5 {

/// Task id -> student function.
CallTable calls();

/// The model and the schedule that a case's inputs describe.
PipelineArguments make_arguments(const CaseInputs& inputs);
pipeline::ScheduleOptions make_schedule_options(const CaseInputs& inputs, int num_ranks);

/// A pipeline's results under the names that the case with these inputs expects.
TensorMap collect_results(const PipelineResult& pipelined, const CaseInputs& inputs, const Communicator& comm);

}  // namespace lab::a5
