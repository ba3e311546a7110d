#pragma once

#include "common/base/errors.h"

namespace lab::optc {
/// `single`: trains in one process, writes the record and its curves.
ExitCode single_command(int argc, char** argv);

/// `compare`: several ways to train, each compared with one process; a table, curves and CSV.
ExitCode compare_command(int argc, char** argv);

/// `bench`: images per second of one process, of 2 stages and of 4, measured in one run.
ExitCode bench_command(int argc, char** argv);

/// `memory`: the peak activation memory of each stage, for several numbers of micro-batches.
ExitCode memory_command(int argc, char** argv);

}  // namespace lab::optc
