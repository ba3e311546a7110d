#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// How long computations and messages take. The vectors have one value per stage, or a single one for all stages.
struct Costs {
  std::vector<double> forward_seconds = {1};
  std::vector<double> backward_input_seconds = {1};   ///< a whole backward pass takes this ...
  std::vector<double> backward_weight_seconds = {1};  ///< ... and this
  double latency_seconds = 0;                         ///< alpha, per message
  double seconds_per_byte = 0;                        ///< beta
  std::int64_t message_bytes = 0;                     ///< of an activation, or of its gradient
};

/// Equal work on every rank: the seconds that one micro-batch takes on a rank, split evenly over the rank's chunks.
/// Example   forward 1, backward 2 (1 and 1), 4 ranks, 8 micro-batches: makespan 33 for afab and for 1f1b
Costs even_costs(const Schedule& schedule, double forward_seconds, double backward_input_seconds,
                 double backward_weight_seconds);

/// How long one computation takes.
double computation_seconds(const Costs& costs, Operation operation, int stage);

/// One computation or message, and when it happens.
struct Span {
  int rank = 0;
  Action action;
  double start_seconds = 0;
  double end_seconds = 0;
};

/// The traffic from one rank to another.
struct Link {
  std::uint64_t messages = 0;
  std::int64_t bytes = 0;
};

struct Timeline {
  std::vector<Span> computations;  ///< rank 0's in order, then rank 1's, and so on
  std::vector<Span> messages;      ///< by message_tag(): the whole send, from when both ends are posted to arrival
  double makespan_seconds = 0;
  std::vector<double> busy_seconds;           ///< of each rank: its computations
  std::vector<double> peak_live_activations;  ///< of each rank, see below
  std::map<std::pair<int, int>, Link> links;  ///< by source and destination

  /// The share of the ranks' time in which they are idle.
  double bubble_fraction() const;
};

/// Plays the schedule by the cost model: each rank does its actions in order; a message begins when both ends are
/// posted and takes alpha + n beta, regardless of others on the same link; a rank that waits for it goes on when it has
/// arrived. Stages on the same rank hand over at once. A live activation is a micro-batch whose forward pass has begun
/// and whose (weight) backward pass has not ended, counted in whole ranks: one chunk of v is 1/v.
/// Requires  lists as make_schedule() makes them: complete, and every message on both ends
/// Errors    ContractError: costs that cannot be; DeadlockError naming each rank of the cycle (of a long one, the first
///           eight) and what it waits for, as if every send were a rendezvous: "deadlock: rank 0 waits for its
///           send_forward of micro-batch 3 to rank 1, rank 1 waits ..."
Timeline make_timeline(const Schedule& schedule, const Costs& costs);

/// The timeline as text, a line per rank, time to the right, at most `columns` wide: computations under their short
/// names, with widths proportional to their duration; where that is too narrow, only their letter.
/// Example   of 1f1b on 2 ranks with 2 micro-batches, forward 1 and backward 2, in 40 columns
///           rank 0 |F0 F1 ..... B0--- .. B1---|
///           rank 1 |.. F0 B0--- F1 B1--- .....|
/// Errors    UsageError: no room for a single column of time
std::string timeline_text(const Schedule& schedule, const Timeline& timeline, int columns = 120);

/// Makespan, bubble, peak live activations of each rank and bytes of each link, in a few lines. Times in `unit`, one of
/// "s" (described in s, ms or us, whichever reads best) and "" (bare numbers, for costs that are only proportions).
/// Errors    UsageError: another unit
std::string timeline_summary(const Schedule& schedule, const Timeline& timeline, const std::string& unit);

}  // namespace lab::pipeline
