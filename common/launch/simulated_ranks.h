#pragma once

#include "common/launch/run_ranks.h"

namespace lab::launch {

/// Runs the ranks as actors of one simulated machine, in a separate process: SimGrid's engine cannot be created twice
/// in a process (its platform stays sealed), and it takes over signals, logs and the thread that it runs on. If that
/// process dies, every rank fails.
/// Errors    UsageError, before the process is created: the network is rejected, or this build has no SimGrid
WorldOutcome run_simulated_ranks(const WorldSpec& spec, const RankBody& body);

}  // namespace lab::launch
