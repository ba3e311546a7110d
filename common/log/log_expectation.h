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

  friend bool operator==(const LinePosition& a, const LinePosition& b) {
    return a.rank == b.rank && a.index == b.index;
  }
};

/// Two lines of different ranks whose order is fixed, because a barrier or a message lies between them.
struct OrderRule {
  LinePosition before;
  LinePosition after;
};

/// What a lab's log must hold: each rank's lines in their order, and which lines of different ranks are ordered.
/// Example   LogExpectation log(num_ranks);
///           log.add_on_every_rank(
///               ExpectedText{"[Distributed Init] Rank {rank} initialized on {node} on {device} {index}."});
///           log.order_next_after_all(0);
///           log.add(0, ExpectedText{"[Rank 0] All ranks ready!"});
struct LogExpectation {
  explicit LogExpectation(int num_ranks, std::string world = "processes");

  int num_ranks() const { return static_cast<int>(per_rank.size()); }

  /// Appends a line to one rank's lines.
  void add(int rank, const ExpectedLine& line);
  void add_on_every_rank(const ExpectedLine& line);

  /// The next line added to `rank` must come, in the file too, after every line added so far on any rank.
  void order_next_after_all(int rank);

  std::vector<std::vector<ExpectedLine>> per_rank;
  std::vector<OrderRule> order;
  std::vector<LinePosition> added;      ///< every line, in the order in which they were added
  std::vector<LinePosition> after_all;  ///< those that order_next_after_all() was called for
  std::string world;                    ///< the run's --world: some lines depend on it
};

}  // namespace lab::log
