#pragma once

#include "common/report/errors.h"

namespace lab {

struct LabProgram;

/// `LAB check-log FILE --nproc P`: prints what is wrong with the log, a line each, or that it is accepted.
/// Returns 0 for an accepted log, 1 for a refused one. Errors: UsageError for options and files.
ExitCode check_log_command(int argc, char** argv, const LabProgram& program);

}  // namespace lab
