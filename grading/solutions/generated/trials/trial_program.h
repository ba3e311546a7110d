#pragma once

#include <vector>

#include "common/checks/case.h"
#include "common/rank/task_call.h"

namespace lab::grading::generated {

/// The whole main function of a lab's trial program, which is linked with mutated student files: reads a TrialOrder from
/// stdin and prints a TrialReport per line, in the order in which trials end. LibTorch is loaded once; each trial is a
/// process forked from this one, whose ranks are threads. A trial whose process dies, or comes to nothing for long, is
/// reported with the runs before that.
/// Call      before any work with tensors. Ends the process itself
[[noreturn]] void trial_program(const std::vector<Case>& cases, CallTable (*calls)());

}  // namespace lab::grading::generated
