#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The tasks that have a TODO in the text, in order, each once.
std::vector<std::string> todos_in(const std::string& text);

/// The student's file with the task's TODO as it was handed out, and all other work as it is; nullopt if these cannot
/// be told apart: the provided lines around the task's were changed as well, or fit in two places.
///
/// A TODO reaches from its line to the next TODO, or to the brace that closes the block around it (outside all blocks:
/// to the next empty line). Every other line of the pristine file is provided: if all of these are found in the
/// student's file, in order and in only one way, the lines between two pieces are the student's.
std::optional<std::string> with_stub_again(const std::string& pristine, const std::string& current,
                                           const std::string& task);

/// The same for a file that still has its solution markers: the task's regions become their stubs, all others stay.
/// nullopt if the task has no region in it.
/// Errors    UsageError: parse_solution_markers() refuses the text
std::optional<std::string> with_region_as_stub(const std::string& text, const std::string& task);

/// Puts the task's TODO back as it was handed out, after copying each file that is changed to .lab-backup/. Other
/// tasks' work in these files stays if it can be told apart; otherwise the whole file is put back, but only if no other
/// task is in it or `whole_files` is true.
/// Returns   what was done: one line for each file
/// Errors    UsageError: the task has no TODO of its own; the file as it was handed out is missing; other tasks are in
///           a file that would be put back as a whole. Nothing is changed then.
std::vector<std::string> reset_task(const CourseTree& tree, const TaskOfLab& task, bool whole_files);

}  // namespace lab
