#pragma once

#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/course/course_tree.h"
#include "common/course/task_progress.h"
#include "common/page/junit_xml.h"

namespace lab {

/// What the checks of several labs, or several checks of one, have left in a folder, in the order of the files' names:
///
///     001-a4_data_tensor.json  what `LAB check --json` wrote; 001-a4_data_tensor.xml, --junit
///     002-a9_collectives.problem  problems: why there are no results, or what else is wrong; one per line
///     002-a9_collectives.build  what its build printed, if that failed: belongs to the problem of the same number
class CombinedResults {
 public:
  /// Errors    UsageError: a file that cannot be read
  explicit CombinedResults(const std::string& folder);

  struct Problem {
    std::string lab, what;  ///< "a9_collectives", "it was not built"
    std::string build;      ///< what the build printed; empty: that is not the problem
  };
  const std::vector<Problem>& problems() const { return problems_; }

  std::vector<CheckedTask> tasks() const;
  /// The lists of tasks as one.
  /// Errors    UsageError: a file is not what it should be, for both
  std::string json() const;
  /// A suite for each lab; problems are errors in it.
  std::vector<JunitSuite> suites() const;

 private:
  std::vector<std::string> json_files_, xml_files_;
  std::vector<Problem> problems_;
};

/// What `lab test` says once every lab was checked.
struct TestSummary {
  /// A line for each lab, with the names of wrong tasks and why some were not checked, and one for all of them.
  std::string text;
  /// kMismatch: something is wrong or was not checked. kNotImplemented: else, but a TODO is left.
  ExitCode exit_code = ExitCode::kAllMatch;
};

/// Of the rubrics' tasks, and of what else the results call wrong. A task without a result was not checked, whatever
/// became of it earlier.
TestSummary summarize(const CourseTree& tree, const CombinedResults& results);

}  // namespace lab
