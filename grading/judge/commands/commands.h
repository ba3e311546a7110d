#pragma once

#include "common/base/errors.h"

// The words of labgrade. Each returns 0 when it has done its work, whatever the marks are. Errors: UsageError.
namespace lab::grading {

/// `grade SUBMISSION`: builds, runs, judges and marks; writes a folder per lab. Returns ExitCode::kNotJudged where marks
/// wait for another grading.
ExitCode grade_command(int argc, char** argv);
/// `marks DIR`: makes marks again from what a grading left there: after marking by hand, or with another --rubric.
ExitCode marks_command(int argc, char** argv);
/// `answers LAB`: prints the answer key.
ExitCode answers_command(int argc, char** argv);
/// `mutants [NAME...]`: judges wrong and unusual solutions, and returns 1 unless each gets what it must.
ExitCode mutants_command(int argc, char** argv);

}  // namespace lab::grading
