#pragma once

#include "a5_pipeline/cases/pipelined_model.h"
#include "common/checks/case.h"

namespace lab::a5 {

/// Task id -> student function.
CallTable calls();

/// A pipeline's results under the names that the cases of a5.all_forward_all_backward and a5.schedules expect.
TensorMap results_of(const PipelineResult& pipelined, const Communicator& comm);

}  // namespace lab::a5
