#pragma once

#include <string>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// Turns an outcome into marks, with those given by hand in the folder's manual.toml, and writes into the folder:
/// results.json (Gradescope's form), report.md, report.html, outcome.json (from which marks can be recomputed), the student's answer
/// files under answers/, and manual.toml to fill in; an existing one gets entries for answers that have changed.
/// Errors    UsageError: the folder cannot be written; manual.toml is wrong
LabMarks write_results(const std::string& folder, const Rubric& rubric, const LabOutcome& outcome);

/// The outcome that write_results() left in the folder, with the answer files.
/// Errors    UsageError: there is none
LabOutcome read_results(const std::string& folder);

}  // namespace lab::grading
