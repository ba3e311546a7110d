#pragma once

#include <cstddef>
#include <vector>

#include "common/log/expected_line.h"

namespace lab::log {

/// The index-th expected line of a rank.
struct LinePosition {
  int rank = 0;
  std::size_t index = 0;
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
  explicit LogExpectation(int num_ranks);

  int num_ranks() const { return static_cast<int>(per_rank.size()); }

  /// Appends a line to one rank's lines; {rank} in an ExpectedText becomes the rank's number.
  void add(int rank, const ExpectedLine& line);
  void add_on_every_rank(const ExpectedLine& line);

  /// The next line added to `rank` must come, in the file too, after every line added so far on any rank.
  void order_next_after_all(int rank);

  std::vector<std::vector<ExpectedLine>> per_rank;
  std::vector<OrderRule> order;
};

}  // namespace lab::log
