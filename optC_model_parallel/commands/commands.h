#pragma once

#include "common/base/errors.h"

namespace lab::optc {
/// `single`: trains in one process, leaves the record and its curves.
ExitCode single_command(int argc, char** argv);

/// `compare`: several ways to train beside one process; a table, curves and CSV.
ExitCode compare_command(int argc, char** argv);

// Commands that measure pipelines.
/// `bench`: images per second of one process, of 2 stages and of 4, side by side in one run.
ExitCode bench_command(int argc, char** argv);

/// `memory`: what each stage holds of activations at once, for several numbers of micro-batches.
ExitCode memory_command(int argc, char** argv);

}  // namespace lab::optc
