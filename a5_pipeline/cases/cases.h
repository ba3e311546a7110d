#pragma once

#include <vector>

#include "a5_pipeline/calls/calls.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"

namespace lab::a5 {

/// What the lab checks, in the order of its log. Between the two the lab compares the model at the options' sizes with
/// its baseline: what this depends on is checked first.
std::vector<Section> sections_before_comparison();
std::vector<Section> sections_after_comparison();

/// The cases of all sections, and those that only `check` and the judge run.
std::vector<Case> all_cases();

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

/// Q4 and Q8 with more micro-batches than any other case has, and Q8 with only one. Not among the lab's lines.
std::vector<Case> other_numbers_of_batches_cases();

/// Q8, with stages that compute for long: whether they do so at the same time. Not among the lab's lines.
Case long_pipeline_case();

}  // namespace lab::a5
