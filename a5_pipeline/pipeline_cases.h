#pragma once

#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/lab/case.h"
#include "common/pipeline/generators.h"

namespace lab::a5 {

/// Q4: the model alone, on small sizes.
std::vector<Case> baseline_cases();

/// Q8: the same models in a pipeline.
std::vector<Case> pipeline_cases();

/// The pipeline by schedules that are data.
std::vector<Case> schedule_cases();

/// What the inputs of these cases say about the model and the schedule.
PipelineArguments arguments_of(const CaseInputs& inputs);
pipeline::ScheduleOptions schedule_of(const CaseInputs& inputs, int num_ranks);

}  // namespace lab::a5
