#pragma once

#include "common/checks/lab_main.h"

namespace lab::optc {

/// The lab without a command: all checks, then a pipeline and a tensor-parallel training, compared with one process.
int lab_program(int argc, char** argv);

/// `pipeline` and `tensor`: one training alone, with all its options.
ExitCode pipeline_command(int argc, char** argv);
ExitCode tensor_command(int argc, char** argv);

}  // namespace lab::optc
