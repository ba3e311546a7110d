#pragma once

#include "common/report/errors.h"

namespace lab::a9 {

/// `a9_collectives bench`: times every algorithm and its peers on real processes and prints one table.
ExitCode bench_command(int argc, char** argv);

}  // namespace lab::a9
