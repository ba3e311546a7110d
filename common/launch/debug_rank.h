#pragma once

#include <string>

namespace lab {

/// Replaces this process with labrun, which starts the same command on `num_ranks` ranks, the given one under gdb.
/// Errors    UsageError: no such rank, or labrun is not next to this binary
[[noreturn]] void start_under_debugger(int argc, char** argv, int num_ranks, int debug_rank);

}  // namespace lab
