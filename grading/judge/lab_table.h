#pragma once

#include <string>
#include <vector>

#include "common/checks/graded_lab.h"
#include "common/course/rubric/rubric.h"

namespace lab::grading {

/// A lab as the judge knows it. Expected results are computed by the suite's own code, never by a submission's.
struct JudgedLab : GradedLab {
  std::string folder;  ///< "a9_collectives"
};

/// The lab's own sizes, or those that the rubric has instead.
CheckedSizes judged_sizes(const JudgedLab& lab, const Rubric& rubric);

/// All labs of the tree, by name.
const std::vector<JudgedLab>& judged_labs();

/// By folder or short name.
/// Errors    UsageError: there is none; the nearest name is suggested
const JudgedLab& judged_lab(const std::string& name);

}  // namespace lab::grading
