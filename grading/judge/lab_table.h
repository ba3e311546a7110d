#pragma once

#include <string>
#include <vector>

#include "common/lab/case.h"

namespace lab::grading {

/// A lab as the judge knows it: its cases. What their `expected` compute is the suite's own, never a submission's.
struct JudgedLab {
  std::string folder;      ///< "a9_collectives"
  std::string short_name;  ///< "a9"
  std::vector<Case> (*cases)();
};

/// All labs, in the order of the course.
const std::vector<JudgedLab>& judged_labs();

/// By folder or short name.
/// Errors    UsageError: there is none; the nearest is named
const JudgedLab& judged_lab(const std::string& name);

}  // namespace lab::grading
