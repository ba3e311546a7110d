#pragma once

#include "common/cli/app.h"

// The commands of labgrade: each function gives a command its options and its action, which returns 0 when it has done
// its work, whatever the marks are. Errors: UsageError.
namespace lab::grading {

/// `grade SUBMISSION`: builds, runs, judges and marks; writes a folder per lab. Returns ExitCode::kNotJudged if
/// marks wait for another grading, because of the machine or because a file needs a look.
void grade_command(cli::App& app);
/// `grade-all FOLDER`: the same for each submission of a class; see grading/batch.
void grade_all_command(cli::App& app);
/// `grade-one ORDER`: one submission of a class, in a process that `grade-all --through COMMAND` has started.
void grade_one_command(cli::App& app);
/// `similar FOLDER`: compares the hand-ins of a class with each other; see grading/similarity. Returns
/// ExitCode::kNotJudged if one could not be compared.
void similar_command(cli::App& app);
/// `marks DIR`: recomputes the marks from the results of a grading: after marking by hand, or with another --rubric.
void marks_command(cli::App& app);
/// `answers LAB`: prints the answer key.
void answers_command(cli::App& app);
/// `solutions [NAME...]`: tries wrong and unusual solutions, and returns 1 unless each gets what it must.
void solutions_command(cli::App& app);
/// `hostile [NAME...]`: grades hand-ins that attack the grading, and returns 1 unless each fails as it must.
void hostile_command(cli::App& app);

}  // namespace lab::grading
