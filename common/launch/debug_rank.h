#pragma once

#include <string>

namespace lab {

/// Replaces this process by labrun, which starts the same command on `num_ranks` ranks, the given one under gdb.
/// Errors    UsageError: no such rank, or labrun is not beside this binary
[[noreturn]] void start_under_debugger(int argc, char** argv, int num_ranks, int debug_rank);

}  // namespace lab
