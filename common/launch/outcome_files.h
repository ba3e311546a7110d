#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/launch/run_ranks.h"

// How what a rank did travels to the process that started it: through an in-memory file (memory_file.h).
namespace lab::launch {

/// A rank's outcome without what it keeps, for another process: facts as JSON, tensors as safetensors.
/// Errors    UsageError: a tensor that safetensors cannot hold
std::string bytes_of_outcome(const RankOutcome& outcome);

/// Parses what bytes_of_outcome() wrote.
/// Errors    UsageError: not such bytes; names the field that is missing or of another type
RankOutcome outcome_from_bytes(std::string_view bytes);

/// Appends what a rank keeps to the file at once, so that it is there however its process ends.
/// Errors    UsageError: out of memory
void keep_in_file(int fd, int rank, std::string_view bytes);

/// Appends a rank's outcome, with what it keeps and is not in the file yet.
/// Errors    UsageError: out of memory; as bytes_of_outcome()
void save_outcome(int fd, const RankOutcome& outcome);

/// What a rank has left in a file.
struct LeftByRank {
  std::optional<RankOutcome> outcome;  ///< nothing: its process ended before that was complete
  std::vector<std::string> kept;
};

/// What processes, whose code is not trusted, have left in a file, by rank.
struct LeftInFile {
  std::map<int, LeftByRank> ranks;
  std::string broken;  ///< what is wrong with what follows; empty: nothing follows
};
LeftInFile load_outcomes(int fd, std::uint64_t max_bytes = std::uint64_t{1} << 32);

/// Of a rank whose process left none.
RankOutcome lost_outcome(int rank, const RankFailure& failure);

}  // namespace lab::launch
