#pragma once

#include <string>
#include <vector>

#include "common/checks/graded_lab.h"

namespace lab::grading {

/// A lab as the judge knows it. What its cases compute as expected is the suite's own, never a submission's.
struct JudgedLab : GradedLab {
  std::string folder;      ///< "a9_collectives"
  std::string short_name;  ///< "a9"
};

/// All labs of the tree, by name.
const std::vector<JudgedLab>& judged_labs();

/// By folder or short name.
/// Errors    UsageError: there is none; the nearest is named
const JudgedLab& judged_lab(const std::string& name);

}  // namespace lab::grading
