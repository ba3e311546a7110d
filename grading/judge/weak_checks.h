#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/checked_sizes.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// Takes back what a task passed only in checks that are not enough by themselves: one that who does nothing passes, too
/// (Case::earns_alone), and one that is judged on a single number of ranks where others of the task are on several.
void take_back_weak(const std::vector<Case>& cases, const CheckedSizes& sizes,
                    std::map<std::string, TaskOutcome>& outcomes);

}  // namespace lab::grading
