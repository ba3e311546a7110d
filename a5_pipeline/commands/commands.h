#pragma once

#include "common/cli/app.h"

namespace lab::a5 {

/// `bench`: runs each schedule for real, and compares its time with the makespan that the cost model computes from the
/// forward and backward times measured in the same run.
void bench_command(cli::App& app);

/// `schedule --kind 1f1b --pp 4 --micro-batches 8`: prints a schedule's timeline, makespan, bubble, live activations
/// and traffic, draws it, and with --sim runs it on a simulated network.
void schedule_command(cli::App& app);

}  // namespace lab::a5
