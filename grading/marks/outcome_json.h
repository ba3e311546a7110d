#pragma once

#include <string>

#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// What the judge found, as JSON, from which marks can be recomputed with other weights or marks by hand, without
/// running anything. Answer files are left out; they are in the submission.
std::string outcome_to_json(const LabOutcome& outcome);

/// Parses what outcome_to_json() wrote.
/// Errors    UsageError: the text is not such JSON; `path` names the file in the message
LabOutcome outcome_from_json(const std::string& text, const std::string& path);

}  // namespace lab::grading
