#pragma once

#include "common/comm/sim_network.h"
#include "common/pipeline/timeline.h"

namespace lab::a5 {

/// Carries the schedule out on a simulated network, message by message, and returns what happened there: unlike the
/// cost model, messages that share a link share its bandwidth. Peaks and traffic are the cost model's.
/// Errors    as validate(); UsageError: the network is refused, or this build has no SimGrid
pipeline::Timeline simulate(const pipeline::Schedule& schedule, const pipeline::Costs& costs,
                            const SimNetwork& network);

}  // namespace lab::a5
