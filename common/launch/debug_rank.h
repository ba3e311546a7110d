#pragma once

#include <string>
#include <vector>

namespace lab::launch {

/// Replaces this process with labrun, which starts this program with these arguments on `num_ranks` ranks, the given
/// one under gdb.
/// Errors    UsageError: no such rank, or labrun is not next to this binary
[[noreturn]] void start_under_debugger(const std::vector<std::string>& arguments, int num_ranks, int debug_rank);

/// What a student types to see rank `rank` in a debugger: "./lab run a4 run SingleStep --nproc 4 --debug-rank 1".
/// `check`: empty for all that the program runs.
std::string debugger_command(const std::string& lab, const std::string& check, int num_ranks, int rank);

}  // namespace lab::launch
