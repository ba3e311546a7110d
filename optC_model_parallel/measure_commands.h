#pragma once

#include "common/report/errors.h"

// Commands that measure pipelines.
namespace lab::optc {

/// `bench`: images per second of one process, of 2 stages and of 4, side by side in one run.
ExitCode bench_command(int argc, char** argv);

/// `memory`: what each stage holds of activations at once, for several numbers of micro-batches.
ExitCode memory_command(int argc, char** argv);

}  // namespace lab::optc
