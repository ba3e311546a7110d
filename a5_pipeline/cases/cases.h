#pragma once

#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"
#include "common/pipeline/generators.h"

namespace lab::a5 {

struct PipelineResult;

/// What the lab checks, in the order of its log. Between the two the lab compares the model at the options' sizes with
/// its baseline: what this depends on is checked first.
std::vector<Section> sections_before_comparison();
std::vector<Section> sections_after_comparison();

/// The cases of all sections.
std::vector<Case> all_cases();

/// Task id -> student function.
CallTable calls();

/// For the judge.
GradedLab graded_lab();

/// Q2, Q4 to Q7: the parts of the pipeline.
std::vector<Case> part_cases();

/// Q9 and Q10: the comparisons.
std::vector<Case> comparison_cases();

/// Q4: the model alone, on small sizes.
std::vector<Case> baseline_cases();

/// Q8: the same models in a pipeline.
std::vector<Case> pipeline_cases();

/// The pipeline with schedules as data.
std::vector<Case> schedule_cases();

/// The model and the schedule that these cases' inputs describe.
PipelineArguments arguments_of(const CaseInputs& inputs);
pipeline::ScheduleOptions schedule_of(const CaseInputs& inputs, int num_ranks);

/// A pipeline's results under the names that these cases expect.
TensorMap results_of(const PipelineResult& pipelined, const Communicator& comm);

}  // namespace lab::a5
