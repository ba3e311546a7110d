#pragma once

#include <cstddef>
#include <optional>
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

/// A section of a README that explains something.
struct ReadmeSection {
  std::size_t line = 0;
  std::string heading;
  std::string letters;  ///< of its text, nothing else
};

/// The section that speaks most of the task: its name, without the lab's, is in the heading or in the text. Nothing
/// where none does. Lists of files, tasks or mistakes are passed over; a task that is a numbered question has its line.
/// Example   a4.accumulation: "### Batch accumulation: parallel in time"
std::optional<ReadmeSection> section_about(const std::string& readme, const RubricTask& task);

/// Where the task is edited: its TODO, in its own file or in another of the lab's; without one, its file.
ReadingPlace place_to_edit(const CourseTree& tree, const TaskOfLab& task);

/// The contracts: the lab's headers that the task's file includes, in order.
std::vector<std::string> contracts_of(const CourseTree& tree, const TaskOfLab& task);

/// The lab's README, and its section about the task if one is found.
ReadingPlace readme_of(const CourseTree& tree, const TaskOfLab& task);

/// "a9_collectives/README.md:120"
std::string to_text(const ReadingPlace& place);

}  // namespace lab
