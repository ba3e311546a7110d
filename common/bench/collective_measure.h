#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bench/collective_peers.h"
#include "common/bench/collective_rows.h"

namespace lab {

/// What the benchmark measures at each size: Collectives, Gloo's built-in if there is one, the copies, and the peers, in
/// turns so that all see the same machine.
struct CollectiveRun {
  int num_ranks = 4;
  std::string transport = "gloo";   ///< of ours
  std::vector<std::int64_t> sizes;  ///< bytes, as nccl-tests counts them; rounded down to whole elements per rank
  int turns = 11;                   ///< blocks of each contender; the median counts
};

/// How long a peer's ranks may take for a block; then they are left out.
constexpr double kTwinSeconds = 60;

/// Measured by ranks in separate processes.
/// Errors    as a rank's error, where one fails
std::vector<CollectiveRow> measured_rows(const CollectiveRun& run, const std::string& collective,
                                         const std::vector<PeerLibrary>& peers);

}  // namespace lab
