#pragma once

#include <string>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// What the judge found, as JSON, from which marks can be recomputed with other weights or marks by hand, without
/// running anything. Answer files are left out; they are in the submission.
std::string outcome_to_json(const LabOutcome& outcome);

/// The reverse.
/// Errors    UsageError: the text is not such JSON; `path` names the file in the message
LabOutcome outcome_from_json(const std::string& text, const std::string& path);

/// Turns an outcome into marks, with those given by hand in the folder's manual.toml, and writes into the folder:
/// results.json (Gradescope's form), report.md, report.html, outcome.json (from which marks can be recomputed), the student's answer
/// files under answers/, and manual.toml to fill in; an existing one gets entries for answers that have changed.
/// Errors    UsageError: the folder cannot be written; manual.toml is wrong
LabMarks write_results(const std::string& folder, const Rubric& rubric, const LabOutcome& outcome);

/// The outcome that write_results() left in the folder, with the answer files.
/// Errors    UsageError: there is none
LabOutcome read_results(const std::string& folder);

}  // namespace lab::grading
