#pragma once

#include "common/cli/app.h"

namespace lab::optc {

/// The whole main function: all checks, then a pipeline and a tensor-parallel training, compared with one process; or
/// a command.
int lab_program(int argc, char** argv);

// Each function gives a command its options and its action.

/// `compare`: several ways to train, each compared with one process; a table, curves and CSV.
void compare_command(cli::App& app);

/// `memory`: the peak activation memory of each stage, for several numbers of micro-batches.
void memory_command(cli::App& app);

}  // namespace lab::optc
