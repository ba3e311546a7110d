#pragma once

#include <string>
#include <vector>

#include "common/course/course_tree.h"
#include "common/course/task_progress.h"

namespace lab {

/// What `LAB check --json FILE` says of one task.
struct CheckedTask {
  std::string task;
  bool passed = false, skipped = false;
  int exit_code = 0;
};

/// Errors    UsageError: it cannot be read, or is not such a file
std::vector<CheckedTask> read_check_results(const std::string& path);

/// Remembers the results, with today's date and the student's files as they are now. A task that was skipped stays as
/// it was; one that the rubrics do not have is ignored.
void remember(const std::vector<CheckedTask>& results, const CourseTree& tree, ProgressFile& progress);

}  // namespace lab
