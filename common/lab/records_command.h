#pragma once

#include "common/report/errors.h"

namespace lab {

struct LabProgram;

/// `LAB records --nproc P --seed S --descriptors 5,6,7,8 [--tasks a9.broadcast,a9.allreduce] [--timeout T]`: for a
/// judge. Rank r performs the cases of these tasks, or those of these names, in the table's order, and appends a record of each to descriptor r,
/// which this process has inherited (perform_and_record). Prints nothing; what is wrong is found by who reads them.
/// Returns the world's exit code; its sentence goes to stderr.
/// Errors    UsageError: options; a descriptor that cannot be written to; a task that is not there
ExitCode records_command(int argc, char** argv, const LabProgram& program);

}  // namespace lab
