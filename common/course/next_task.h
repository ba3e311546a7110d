#pragma once

#include <string>
#include <vector>

#include "common/course/course_tree.h"
#include "common/course/task_progress.h"

namespace lab {

/// The progress of a lab.
struct LabStanding {
  std::vector<std::string> solved;       ///< and nothing has changed since
  std::vector<std::string> check_again;  ///< solved, but files that it depends on have changed since
  /// The first task in the rubric's order that is not solved while all that it needs is; nullptr: all are solved.
  const RubricTask* next = nullptr;
};

LabStanding standing_of(const CourseTree& tree, const Rubric& lab, const ProgressFile& progress);

/// What `lab next` prints: the next task of these labs, where to edit, what to read, how to check it.
std::string next_task_text(const CourseTree& tree, const std::vector<const Rubric*>& labs,
                           const ProgressFile& progress);

/// What `lab status` prints: a line for each task.
std::string status_text(const CourseTree& tree, const std::vector<const Rubric*>& labs, const ProgressFile& progress);

}  // namespace lab
