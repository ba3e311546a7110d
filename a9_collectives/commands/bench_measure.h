#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "a9_collectives/commands/bench.h"

namespace lab::a9 {

/// What the benchmark measures at each size: every algorithm, or only the selected one, Gloo's built-in if there is
/// one, and the peers, in turns so that all see the same machine.
struct BenchRun {
  int num_ranks = 4;
  std::string transport = "gloo";   ///< of the algorithms
  std::vector<std::int64_t> sizes;  ///< bytes, as nccl-tests counts them; rounded down to whole elements per rank
  int turns = 11;                   ///< blocks of each contender; the median counts
  bool selected_only = false;
  bool fits =
      false;  ///< for choice_tables(): the algorithms alone, without those that pass everything through one rank
};

/// How long a peer's ranks may take for a block; then they are left out.
constexpr double kTwinSeconds = 60;

/// Measured by ranks in separate processes. An algorithm that is not implemented is left out, with a line.
/// Errors    as a rank's error, where one fails
std::vector<BenchRow> measured_rows(const BenchRun& run, const Collective& collective, const std::vector<Peer>& peers);

}  // namespace lab::a9
