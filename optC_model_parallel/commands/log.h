#pragma once

#include "common/log/log_expectation.h"
#include "optC_model_parallel/commands/training_lines.h"

namespace lab::optc {

/// The trainings of a run without options: "Pipeline" and "Tensor".
CheckedTraining default_pipeline();
CheckedTraining default_tensor();

/// What a correct run with default options prints: all checks, then both trainings; or one training alone.
LogExpectation expected_log(int num_ranks);
LogExpectation expected_training_log(const CheckedTraining& training, int num_ranks);

}  // namespace lab::optc
