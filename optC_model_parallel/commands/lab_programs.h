#pragma once

#include "common/checks/lab_main.h"

namespace lab::optc {

/// The lab as started plainly: all checks, then a pipeline and a tensor-parallel training beside one process.
int lab_program(int argc, char** argv);

/// `pipeline` and `tensor`: one training alone, with all its options.
ExitCode pipeline_command(int argc, char** argv);
ExitCode tensor_command(int argc, char** argv);

}  // namespace lab::optc
