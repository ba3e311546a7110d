#pragma once

#include "common/base/errors.h"

// The commands of labgrade. Each returns 0 when it has done its work, whatever the marks are. Errors: UsageError.
namespace lab::grading {

/// `grade SUBMISSION`: builds, runs, judges and marks; writes a folder per lab. Returns ExitCode::kNotJudged if
/// marks wait for another grading.
ExitCode grade_command(int argc, char** argv);
/// `marks DIR`: recomputes the marks from the results of a grading: after marking by hand, or with another --rubric.
ExitCode marks_command(int argc, char** argv);
/// `answers LAB`: prints the answer key.
ExitCode answers_command(int argc, char** argv);
/// `mutants [NAME...]`: judges wrong and unusual solutions, and returns 1 unless each gets what it must.
ExitCode mutants_command(int argc, char** argv);

}  // namespace lab::grading
