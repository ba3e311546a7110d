#pragma once

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"
#include "grading/processes/own_processes.h"
#include "grading/solutions/solution_table.h"

namespace lab::grading {

/// Compares an outcome with what is required: a wrong solution loses marks for its task, by the checks and with the
/// symptom that it names, and for no other task but those that need it; a right one loses none.
Verdict solution_verdict(const Solution& solution, const Rubric& rubric, const LabOutcome& outcome);

}  // namespace lab::grading
