#pragma once

#include "common/cli/app.h"

namespace lab::a5 {

/// `schedule --kind 1f1b --pp 4 --micro-batches 8`: prints a schedule's timeline, makespan, bubble, live activations
/// and traffic, draws it, and with --sim runs it on a simulated network.
void schedule_command(cli::App& app);

}  // namespace lab::a5
