#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// When each student file was last changed, by its path from the tree's root: "size:time".
using FileTimes = std::map<std::string, std::string>;

FileTimes file_times(const CourseTree& tree, const std::vector<const Rubric*>& labs);

/// The times as text, and back. An invalid line is ignored: the file then counts as changed.
std::string to_text(const FileTimes& times);
FileTimes parse_file_times(const std::string& text);

/// The files that were added, changed or removed between the two.
std::vector<std::string> changed_files(const FileTimes& before, const FileTimes& after);

/// The tasks to check after a change of these files: those whose own file it is; if there are none, those whose file is
/// in the same folder; if there are none either, all tasks of the lab.
std::vector<TaskOfLab> tasks_of_files(const CourseTree& tree, const std::vector<std::string>& files);

}  // namespace lab
