#pragma once

#include "a4_data_tensor/step.h"
#include "common/rank/task_call.h"

namespace lab::a4 {

/// The options of one run of a handout case.
StepOptions step_options(const CaseInputs& inputs);

/// Task id -> student function. A task's cases ask for results by name, and each call returns what its inputs allow.
CallTable calls();

}  // namespace lab::a4
