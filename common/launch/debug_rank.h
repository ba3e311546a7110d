#pragma once

#include <string>
#include <vector>

namespace lab::launch {

/// Replaces this process with labrun, which starts this program with these arguments on `num_ranks` ranks, the given
/// one under gdb.
/// Errors    UsageError: no such rank, or labrun is not next to this binary
[[noreturn]] void start_under_debugger(const std::vector<std::string>& arguments, int num_ranks, int debug_rank);

}  // namespace lab::launch
