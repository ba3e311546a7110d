#include "common/course/starter/what_to_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

/// The text of the first file of the task.
std::string first_file(const CourseTree& tree, const TaskOfLab& task) {
  const std::vector<std::string> files = files_below(tree, *task.lab, task.task->file);
  return files.empty() ? "" : read_file(tree.get_folder(*task.lab) + "/" + files.front());
}

/// "Tasks" of "## Tasks"; empty for a line that is not a heading.
std::string heading_in(const std::string& line) {
  const std::size_t level = line.find_first_not_of('#');
  const bool is_heading = level != 0 && level != std::string::npos && line[level] == ' ';
  return is_heading ? std::string(without_line_break(line).substr(level + 1)) : "";
}

}  // namespace

std::size_t line_about(const std::string& readme, const RubricTask& task) {
  const bool is_question = task.title[0] == 'Q' && task.title.find(':') != std::string::npos;
  const std::string question = "**" + task.title.substr(0, task.title.find(':')) + ".**";
  std::size_t number = 0, of_heading = 0;
  for (const std::string& line : list_lines(readme)) {
    ++number;
    if (is_question && line.find(question) != std::string::npos) return number;
    if (of_heading == 0 && !task.read.empty() && heading_in(line) == task.read) of_heading = number;
  }
  return of_heading;
}

void require_sections(const Rubric& lab, const std::string& readme) {
  std::vector<std::string> headings;
  for (const std::string& line : list_lines(readme)) {
    if (const std::string heading = heading_in(line); !heading.empty()) headings.push_back(heading);
  }
  for (const RubricTask& task : lab.tasks) {
    if (task.read.empty() || std::find(headings.begin(), headings.end(), task.read) != headings.end()) continue;
    throw UsageError(fmt::format("{}/rubric.toml: {}: read: README.md has no section '{}'{}", lab.lab, task.id,
                                 task.read, did_you_mean(task.read, headings)));
  }
}

ReadingPlace place_to_edit(const CourseTree& tree, const TaskOfLab& task) {
  std::vector<std::string> files = files_below(tree, *task.lab, task.task->file);
  for (const std::string& file : student_files(tree, *task.lab)) files.push_back(file);
  for (const std::string& file : files) {
    const std::size_t line = line_of_todo(read_file(tree.get_folder(*task.lab) + "/" + file), task.task->id);
    if (line != 0) return {task.lab->lab + "/" + file, line, "its TODO"};
  }
  return {task.lab->lab + "/" + task.task->file, 0, ""};
}

std::vector<std::string> list_contracts(const CourseTree& tree, const TaskOfLab& task) {
  const std::string begin = "#include \"" + task.lab->lab + "/";
  std::vector<std::string> headers;
  for (const std::string& line : list_lines(first_file(tree, task))) {
    if (line.compare(0, begin.size(), begin) != 0) continue;
    const std::string header = line.substr(begin.size(), line.find('"', begin.size()) - begin.size());
    headers.push_back(task.lab->lab + "/" + header);
  }
  return headers;
}

ReadingPlace find_readme(const CourseTree& tree, const TaskOfLab& task) {
  ReadingPlace place = {task.lab->lab + "/README.md", 0, "the assignment"};
  const std::string path = tree.root() + "/" + place.file;
  if (!std::filesystem::exists(path)) return place;
  place.line = line_about(read_file(path), *task.task);
  if (place.line != 0 && !task.task->read.empty()) place.what = "\"" + task.task->read + "\"";
  return place;
}

std::string to_text(const ReadingPlace& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

}  // namespace lab
