#pragma once

#include "common/course/starter/starter_tree.h"

namespace lab::grading {

/// Compiles the provided code of a starter, as its own `./lab build` does, in a temporary folder that is removed again.
/// Returns   "prebuilt/TARGET/NAME.o" for each object of it, and "prebuilt/made_for.txt" (common/cmake/prebuilt.cmake)
/// Errors    UsageError: the temporary folder cannot be made, or the build fails, whose output was shown
StarterTree compile_provided_code(const StarterTree& tree);

}  // namespace lab::grading
