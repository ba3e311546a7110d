#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// What computations and messages take. Of the vectors, one value per stage, or a single one for all stages.
struct Costs {
  std::vector<double> forward_seconds = {1};
  std::vector<double> backward_input_seconds = {1};   ///< a whole backward pass takes this
  std::vector<double> backward_weight_seconds = {1};  ///< and this
  double latency_seconds = 0;                         ///< alpha, of a message
  double seconds_per_byte = 0;                        ///< beta
  std::int64_t message_bytes = 0;                     ///< of one activation, or of its gradient
};

/// Every rank with the same work in all its chunks: so many seconds on a rank for one micro-batch, shared evenly by its
/// chunks.
/// Example   forward 1, backward 2 (1 and 1), 4 ranks, 8 micro-batches: makespan 33 for afab and for 1f1b
Costs even_costs(const Schedule& schedule, double forward_seconds, double backward_input_seconds,
                 double backward_weight_seconds);

/// What one computation takes.
double computation_seconds(const Costs& costs, Operation operation, int stage);

/// One computation, or a wait for a message of some length, in its place.
struct Span {
  int rank = 0;
  Action action;
  double start_seconds = 0;
  double end_seconds = 0;
};

/// What went from one rank to another.
struct Link {
  std::uint64_t messages = 0;
  std::int64_t bytes = 0;
};

struct Timeline {
  std::vector<Span> computations;  ///< rank 0's in order, then rank 1's, and so on
  std::vector<Span> messages;      ///< by message_tag(): the send, whole, from when both ends were posted to arrival
  double makespan_seconds = 0;
  std::vector<double> busy_seconds;           ///< of each rank: its computations
  std::vector<double> peak_live_activations;  ///< of each rank, see below
  std::map<std::pair<int, int>, Link> links;  ///< by source and destination

  /// The share of the ranks' time in which they compute nothing.
  double bubble_fraction() const;
};

/// Carries the schedule out on paper: each rank does its actions in order; a message begins when both ends are posted
/// and takes alpha + n beta, without regard to others on the same link; whoever waits for it, goes on when it has
/// arrived. Stages on the same rank hand over at once. A live activation is a micro-batch whose forward pass has begun
/// and whose (weight) backward pass has not ended, counted in whole ranks: one chunk of v is 1/v.
/// Errors    as validate()
Timeline make_timeline(const Schedule& schedule, const Costs& costs);

}  // namespace lab::pipeline
