#pragma once

#include <functional>

#include "common/api/errors.h"

namespace lab::cli {

/// Runs body and turns anything thrown out of it into one line on stderr and an exit code.
/// A lab::Error prints "program: error: message" and gives its own code. An exception known to come from student code
/// prints the same and gives 7; one about what the machine refuses, 2. Anything else prints "program: internal error:
/// message" and gives 70. Output that could not be written gives 2 in place of 0.
/// Closed descriptors among 0 to 2 are opened on /dev/null first, standard output so that a write to it fails.
/// Signals that end a program from outside are ignored if they were when it was started, whatever a library has set.
/// Example   int main(int argc, char** argv) { return lab::guarded_main(argc, argv, run); }
int guarded_main(int argc, char** argv, const std::function<ExitCode(int, char**)>& body);

/// "a4_data_tensor" for "build/bin/a4_data_tensor".
const char* program_name(const char* argv0);

}  // namespace lab::cli
