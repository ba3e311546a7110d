#pragma once

#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// Puts the task's TODO back as it was handed out, after a copy of each file that is changed went to .lab-backup/.
/// Other tasks' work in these files stays, where it can be told apart; where it cannot, the whole file is put back, but
/// only if no other task is in it or `whole_files` agrees to that.
/// Returns   what was done, in words: a sentence for each file
/// Errors    UsageError: the task has no TODO of its own; the file as it was handed out is not here; other tasks are in
///           a file that would be put back as a whole. Nothing is changed then.
std::vector<std::string> reset_task(const CourseTree& tree, const TaskOfLab& task, bool whole_files);

}  // namespace lab
