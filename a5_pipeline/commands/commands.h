#pragma once

#include "common/base/errors.h"
#include "common/comm/sim/network.h"
#include "common/pipeline/timeline.h"

namespace lab::a5 {
/// `bench`: runs each schedule for real, and compares its time with the makespan that the cost model computes from the
/// forward and backward times measured in the same run.
ExitCode bench_command(int argc, char** argv);

/// Runs the schedule on a simulated network, message by message, and returns its timeline there: unlike the
/// cost model, messages that share a link share its bandwidth. Peaks and traffic are the cost model's.
/// Errors    as validate(); UsageError: invalid network, or this build has no SimGrid
pipeline::Timeline simulate(const pipeline::Schedule& schedule, const pipeline::Costs& costs,
                            const SimNetwork& network);

/// `schedule --kind 1f1b --pp 4 --micro-batches 8`: prints a schedule's timeline, makespan, bubble, live activations
/// and traffic, draws it, and with --sim runs it on a simulated network.
ExitCode schedule_command(int argc, char** argv);

}  // namespace lab::a5
