#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// When each student file was last changed, by its path from the tree's root: "size:time".
using FileTimes = std::map<std::string, std::string>;

FileTimes file_times(const CourseTree& tree, const std::vector<const Rubric*>& labs);

/// The times as text, and back. A line that is none is passed over: the file then counts as changed.
std::string to_text(const FileTimes& times);
FileTimes parse_file_times(const std::string& text);

/// The files that are new or were changed between the two; a file that is gone counts, too.
std::vector<std::string> changed_files(const FileTimes& before, const FileTimes& after);

/// The tasks whose checks a change of these files asks for: those whose own file it is; where it is nobody's own, those
/// whose file lies beside it; where there is none either, all of its lab.
std::vector<TaskOfLab> tasks_of_files(const CourseTree& tree, const std::vector<std::string>& files);

}  // namespace lab
