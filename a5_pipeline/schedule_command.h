#pragma once

#include "common/report/errors.h"

namespace lab::a5 {

/// `schedule --kind 1f1b --pp 4 --micro-batches 8`: prints a schedule's timeline, makespan, bubble, live activations
/// and traffic, draws it, and with --sim carries it out on a simulated network.
ExitCode schedule_command(int argc, char** argv);

}  // namespace lab::a5
