#pragma once

#include <functional>

#include "common/base/errors.h"

namespace lab {

/// Runs body and turns whatever leaves it into one line on stderr and an exit code.
/// A lab::Error prints "program: error: message" and gives its own code; so does, with code 7, what is known to come
/// from student code; anything else prints "program: internal error: message" and gives 70.
/// Descriptors 0 to 2 that are closed are opened on /dev/null first.
/// Example   int main(int argc, char** argv) { return lab::guarded_main(argc, argv, run); }
int guarded_main(int argc, char** argv, const std::function<ExitCode(int, char**)>& body);

/// "a4_data_tensor" of "build/bin/a4_data_tensor".
const char* program_name(const char* argv0);

}  // namespace lab
