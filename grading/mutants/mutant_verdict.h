#pragma once

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"
#include "grading/mutants/mutant_index.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {

/// Compares an outcome with what is required: a mutant loses marks for its task, by the checks and with the symptom
/// that it names, and for no other task but those that need it; a variant loses none.
Verdict mutant_verdict(const Mutant& mutant, const Rubric& rubric, const LabOutcome& outcome);

}  // namespace lab::grading
