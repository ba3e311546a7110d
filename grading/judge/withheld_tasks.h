#pragma once

#include <map>
#include <set>
#include <string>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"

// Tasks that wait until somebody has looked at a file: it was left out of the program, but not because it is wrong. What
// passes without the file keeps its marks.
namespace lab::grading {

/// Makes the file's tasks not judged: those whose own file it is, or is in; for a file that is no task's, those with a
/// file in the same folder. `files`: file -> why it was left out.
void withhold_tasks(const Rubric& rubric, const std::map<std::string, std::string>& files, LabOutcome& outcome);

/// The same for tasks that build on what is not judged, and may have failed because of that: unless they were judged
/// with the reference in its place.
void withhold_dependents(const Rubric& rubric, const std::map<std::string, std::string>& files, LabOutcome& outcome);

}  // namespace lab::grading
