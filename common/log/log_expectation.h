#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/log/expected_line.h"

namespace lab::log {

/// The index-th expected line of a rank.
struct LinePosition {
  int rank = 0;
  std::size_t index = 0;
};

/// What a lab's log must hold: each rank's lines in their order. Nothing orders lines of different ranks, even if a
/// barrier lies between them: under srun and mpirun each rank's output takes its own way into the file.
/// Example   LogExpectation log(num_ranks);
///           log.add_on_every_rank(
///               ExpectedText{"[Distributed Init] Rank {rank} initialized on {node} on {device} {index}."});
///           log.add(0, ExpectedText{"[Rank 0] All ranks ready!"});
struct LogExpectation {
  explicit LogExpectation(int num_ranks, std::string world = "processes");

  int num_ranks() const { return static_cast<int>(per_rank.size()); }

  /// Appends a line to one rank's lines.
  void add(int rank, const ExpectedLine& line);
  void add_on_every_rank(const ExpectedLine& line);

  std::vector<std::vector<ExpectedLine>> per_rank;
  std::vector<LinePosition> added;  ///< every line, in the order in which they were added
  std::string world;                ///< the run's --world: some lines depend on it
};

}  // namespace lab::log
