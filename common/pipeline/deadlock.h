#pragma once

#include <optional>
#include <vector>

#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// A rank that waits for a message whose other end its peer never posts.
struct Stuck {
  Action message;
  int peer_rank = 0;
};

struct Replay {
  std::vector<std::vector<Span>> computations;  ///< of each rank, in order
  std::vector<Span> messages;                   ///< that went from rank to rank, by message_tag()
  std::vector<std::optional<Stuck>> stuck;      ///< of each rank: where its list could not go on
};

/// Plays the ranks' lists as far as they go, by the rules of make_timeline(). The result does not depend on which rank
/// is looked at first: no rank ever chooses.
/// Requires  what check_actions() and check_costs() check
/// Cost      linear in the number of actions: a waiting rank is looked at again only when its message may go
Replay replay(const Schedule& schedule, const Costs& costs);

/// Errors    DeadlockError naming each rank of a cycle and what it waits for (of a long cycle, the first ones)
void check_no_deadlock(const Schedule& schedule, const Replay& replay);

}  // namespace lab::pipeline
