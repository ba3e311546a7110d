#pragma once

#include <string>

#include "common/base/errors.h"
#include "common/course/combined_results.h"
#include "common/course/course_tree.h"

namespace lab {

/// What `lab test` says once every lab was checked.
struct TestSummary {
  /// A line for each lab, with the names of wrong tasks and why some were not checked, and one for all of them.
  std::string text;
  /// kMismatch: something is wrong or was not checked. kNotImplemented: else, but a TODO is left.
  ExitCode exit_code = ExitCode::kAllMatch;
};

/// Of the rubrics' tasks, and of what else the results call wrong. A task without a result was not checked, whatever
/// became of it earlier.
TestSummary summary_of(const CourseTree& tree, const CombinedResults& results);

}  // namespace lab
