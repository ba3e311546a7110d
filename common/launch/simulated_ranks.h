#pragma once

#include "common/launch/run_ranks.h"

namespace lab {

/// Runs the ranks as actors of one simulated machine, in a process of their own: SimGrid's engine cannot be made a
/// second time in a process (its platform stays sealed), and it takes over signals, logs and the thread that it runs
/// on. A simulation whose process dies becomes a failure of every rank.
/// Errors    UsageError, before a process is made: the network is refused, or this build has no SimGrid
WorldOutcome run_simulated_ranks(const WorldSpec& spec, const RankBody& body);

}  // namespace lab
