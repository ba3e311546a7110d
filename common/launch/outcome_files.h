#pragma once

#include <string>

#include "common/launch/run_ranks.h"

namespace lab {

/// How a process hands the outcomes of the ranks that it ran to the process that started it: through a file in memory
/// (memory_file.h), of which nothing is believed before all of it is there.
/// Errors    UsageError: the system has no room for them
void save_outcomes(int fd, const std::vector<RankOutcome>& outcomes);

/// What save_outcomes() wrote; empty: the process ended before it could.
std::vector<RankOutcome> load_outcomes(int fd);

/// The outcome without its tensors as JSON text, and back: also how ranks of a foreign launcher report to rank 0.
std::string to_json(const RankOutcome& outcome);
RankOutcome outcome_from_json(const std::string& text);

}  // namespace lab
