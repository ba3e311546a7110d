#pragma once

#include "common/report/errors.h"

namespace lab {

struct LabProgram;

/// `LAB check [TASK or case] [--nproc P] [--seed S] [--timeout T] [--json FILE]`: runs the task's cases (all tasks', if
/// none is named) on processes, judges them in this one, and prints what is wrong and why that may be; see
/// check_report.h. Returns the first task's exit code that is not 0, in the order of the table.
/// Errors    UsageError: options; a name that no case or task answers to; a file that cannot be written
ExitCode check_command(int argc, char** argv, const LabProgram& program);

}  // namespace lab
