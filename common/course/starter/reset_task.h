#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The tasks that have a TODO in the text, in order, each once.
std::vector<std::string> todos_in(const std::string& text);

/// The student's file with the task's TODO as it was handed out, and all other work as it is; nothing where that cannot
/// be told apart: the lines that were provided around the task's were changed, too, or fit in two places.
///
/// A TODO reaches from its line to the next TODO, or to the brace that closes what it stands in. Every other line of
/// the pristine file is provided: where all of these are found again in the student's file, in order and in one way
/// only, what stands between two pieces is the student's.
std::optional<std::string> with_stub_again(const std::string& pristine, const std::string& current,
                                           const std::string& task);

/// The same for a file that still has its solution markers: the task's regions become their stubs, all others stay.
/// Nothing where the task has no region in it.
/// Errors    UsageError: parse_solution_markers() refuses the text
std::optional<std::string> with_region_as_stub(const std::string& text, const std::string& task);

/// Puts the task's TODO back as it was handed out, after a copy of each file that is changed went to .lab-backup/.
/// Other tasks' work in these files stays, where it can be told apart; where it cannot, the whole file is put back, but
/// only if no other task is in it or `whole_files` agrees to that.
/// Returns   what was done, in words: a message for each file
/// Errors    UsageError: the task has no TODO of its own; the file as it was handed out is not here; other tasks are in
///           a file that would be put back as a whole. Nothing is changed then.
std::vector<std::string> reset_task(const CourseTree& tree, const TaskOfLab& task, bool whole_files);

}  // namespace lab
