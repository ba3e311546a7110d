#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// A place to look at: a file from the tree's root, a line in it (0: none in particular), and what is there.
struct ReadingPlace {
  std::string file;
  std::size_t line = 0;
  std::string what;
};

/// The line of the section that explains the task: of the heading that its rubric names, or of its own numbered
/// question ("- **Q2.** ...", where the title begins with "Q2:"). 0: the README has neither.
std::size_t line_about(const std::string& readme, const RubricTask& task);

/// Errors    UsageError: a task's `read` is not a heading of the README; names the nearest one
void require_sections(const Rubric& lab, const std::string& readme);

/// Where the task is edited: its TODO, in its own file or in another one of the lab; if it has none, its file.
ReadingPlace place_to_edit(const CourseTree& tree, const TaskOfLab& task);

/// The contracts: the lab's headers that the task's file includes, in order.
std::vector<std::string> list_contracts(const CourseTree& tree, const TaskOfLab& task);

/// The lab's README, and its section about the task.
ReadingPlace find_readme(const CourseTree& tree, const TaskOfLab& task);

/// "a9_collectives/README.md:120"
std::string to_text(const ReadingPlace& place);

}  // namespace lab
