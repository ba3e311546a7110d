#pragma once

#include "common/report/errors.h"

namespace lab::a5 {

/// `bench`: runs each schedule for real, and sets its time beside the makespan that the cost model computes from the
/// forward and backward times measured in the same run.
ExitCode bench_command(int argc, char** argv);

}  // namespace lab::a5
