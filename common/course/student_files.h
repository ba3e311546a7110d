#pragma once

#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The files that a path in the lab's folder stands for: the file itself, or all files below a folder, by their paths
/// from the lab's folder, in order. Excludes hidden files, and the FILE.new that an update leaves.
/// Example   "student/transformer": "student/transformer/parallel_functions.cpp", ...
std::vector<std::string> files_below(const CourseTree& tree, const Rubric& lab, const std::string& path);

/// Every file in the lab's student/ folder.
std::vector<std::string> student_files(const CourseTree& tree, const Rubric& lab);

/// The files that the checks of a task depend on: those handed in together with the task's own, and those of the tasks
/// that it needs.
std::vector<std::string> files_of_task(const CourseTree& tree, const TaskOfLab& task);

/// A checksum of files_of_task(), which shows later edits.
std::string fingerprint_of_task(const CourseTree& tree, const TaskOfLab& task);

/// True if one of these files was changed later than the file `since`.
bool changed_after(const CourseTree& tree, const TaskOfLab& task, const std::string& since);

/// The line, from 1, of the task's TODO in the text; 0: there is none.
std::size_t line_of_todo(const std::string& text, const std::string& task_id);

/// The line, from 1, of the task's first not_implemented() that is not in a comment; 0: there is none.
std::size_t line_of_stub(const std::string& text, const std::string& task_id);

}  // namespace lab
