#pragma once

#include "common/base/errors.h"
#include "common/comm/sim/network.h"
#include "common/pipeline/timeline.h"

namespace lab::a5 {
/// `bench`: runs each schedule for real, and sets its time beside the makespan that the cost model computes from the
/// forward and backward times measured in the same run.
ExitCode bench_command(int argc, char** argv);

/// Carries the schedule out on a simulated network, message by message, and returns what happened there: unlike the
/// cost model, messages that share a link share its bandwidth. Peaks and traffic are the cost model's.
/// Errors    as validate(); UsageError: the network is refused, or this build has no SimGrid
pipeline::Timeline simulate(const pipeline::Schedule& schedule, const pipeline::Costs& costs,
                            const SimNetwork& network);

/// `schedule --kind 1f1b --pp 4 --micro-batches 8`: prints a schedule's timeline, makespan, bubble, live activations
/// and traffic, draws it, and with --sim carries it out on a simulated network.
ExitCode schedule_command(int argc, char** argv);

}  // namespace lab::a5
