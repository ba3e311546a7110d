#pragma once

#include <string>

#include "common/launch/run_ranks.h"

namespace lab::launch {

/// Passes the outcomes of the ranks that a process ran to the process that started it, through an in-memory file
/// (memory_file.h) that is only read once it is complete.
/// Errors    UsageError: out of memory
void save_outcomes(int fd, const std::vector<RankOutcome>& outcomes);

/// What save_outcomes() wrote; empty: the process ended before that.
std::vector<RankOutcome> load_outcomes(int fd);

/// The outcome without its tensors as JSON text, and back; also used by ranks of other launchers to report to rank 0.
std::string to_json(const RankOutcome& outcome);
RankOutcome outcome_from_json(const std::string& text);

}  // namespace lab::launch
