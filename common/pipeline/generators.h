#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// How a rank waits for its messages.
enum class Waiting {
  kLate,      ///< a message is posted as early as its data or its place allow, and awaited when it is needed
  kBlocking,  ///< each send and receive is awaited in place, as with the handout's pipeline_communicate
};

struct ScheduleOptions {
  std::string kind = "afab";  ///< one of schedule_kinds()
  int num_ranks = 4;          ///< p
  int num_micro_batches = 8;  ///< m
  int num_chunks = 1;         ///< v; above 1 for interleaved only
  Waiting waiting = Waiting::kLate;
};

/// afab: all forward passes, then all backward passes (GPipe, arXiv:1811.06965).
/// 1f1b: rank r begins with p-1-r forward passes, then alternates (PipeDream-flush, arXiv:2006.09503).
/// interleaved: 1F1B on v chunks a rank, micro-batches in groups of p (Megatron-LM, arXiv:2104.04473, section 2.2).
/// zb-h1: 1F1B with the weight gradients deferred into the gaps of the drain (arXiv:2401.10241, section 2.1).
const std::vector<std::string>& schedule_kinds();

/// The kind's default number of chunks: 2 for interleaved, otherwise 1.
int usual_chunks(const std::string& kind);

/// The schedule for the options. Late messages are arranged so that they cost no time beyond the computations' own
/// dependencies when messages are free, and no memory that grows with m (an output, which lives until its backward
/// pass, may stay under way as long).
/// Errors    UsageError: an unknown kind; fewer than 1 rank, micro-batch or chunk, or too many to hold; more than 1
///           chunk for a kind other than interleaved; interleaved with a number of micro-batches that is not a multiple
///           of the number of ranks
Schedule make_schedule(const ScheduleOptions& options);

/// What the rank must have received before the computation, and what it sends after it: whole actions. nullopt
/// where the model begins or ends, where the other stage is on the same rank, and for the weights' gradients.
std::optional<Action> message_before(const Schedule& schedule, int rank, const Action& computation);
std::optional<Action> message_after(const Schedule& schedule, int rank, const Action& computation);

}  // namespace lab::pipeline
