#pragma once

#include <string>
#include <string_view>

#include "common/launch/run_ranks.h"

namespace lab::launch {

/// The outcomes of the ranks that a process ran, for another process: facts as JSON, tensors as safetensors.
/// Errors    UsageError: a tensor that safetensors cannot hold
std::string bytes_of_outcomes(const std::vector<RankOutcome>& outcomes);

/// The reverse.
/// Errors    UsageError: not such bytes; names a field that is missing
std::vector<RankOutcome> outcomes_from_bytes(std::string_view bytes);

/// Passes outcomes to the process that started this one, through an in-memory file (memory_file.h).
/// Errors    UsageError: out of memory; as bytes_of_outcomes()
void save_outcomes(int fd, const std::vector<RankOutcome>& outcomes);

/// What save_outcomes() wrote; empty: the process ended before that was complete.
/// Errors    as outcomes_from_bytes()
std::vector<RankOutcome> load_outcomes(int fd);

/// Of a rank whose process left none.
RankOutcome lost_outcome(int rank, const RankFailure& failure);

}  // namespace lab::launch
