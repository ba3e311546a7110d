#include "common/course/file_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/base/text.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

std::string find_parent(const std::string& path) {
  return fs::path(path).parent_path().string();
}

/// The lab's tasks for which the predicate holds.
template <typename Predicate>
std::vector<TaskOfLab> tasks_where(const Rubric& lab, const Predicate& holds) {
  std::vector<TaskOfLab> found;
  for (const RubricTask& task : lab.tasks) {
    if (holds(task)) found.push_back({&lab, &task});
  }
  return found;
}

std::vector<TaskOfLab> tasks_of_file(const Rubric& lab, const std::string& file) {
  auto found = tasks_where(lab, [&](const RubricTask& task) { return task.file == file; });
  if (found.empty()) {
    found = tasks_where(lab, [&](const RubricTask& task) { return find_parent(task.file) == find_parent(file); });
  }
  return found.empty() ? tasks_where(lab, [](const RubricTask&) { return true; }) : found;
}

}  // namespace

FileTimes file_times(const CourseTree& tree, const std::vector<const Rubric*>& labs) {
  FileTimes times;
  for (const Rubric* lab : labs) {
    for (const std::string& file : student_files(tree, *lab)) {
      // A file may disappear between being listed and being read: editors save by renaming.
      std::error_code failure;
      const fs::path path = fs::path(tree.get_folder(*lab)) / file;
      const auto time = fs::last_write_time(path, failure).time_since_epoch().count();
      const auto size = fs::file_size(path, failure);
      if (!failure) times[lab->lab + "/" + file] = fmt::format("{}:{}", size, time);
    }
  }
  return times;
}

std::string to_text(const FileTimes& times) {
  std::string text;
  for (const auto& [file, time] : times) text += time + " " + file + "\n";
  return text;
}

FileTimes parse_file_times(const std::string& text) {
  FileTimes times;
  for (const std::string& line : list_lines(text)) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) {
      times[std::string(without_line_break(line.substr(blank + 1)))] = line.substr(0, blank);
    }
  }
  return times;
}

std::vector<std::string> changed_files(const FileTimes& before, const FileTimes& after) {
  std::vector<std::string> changed;
  for (const auto& [file, time] : after) {
    const auto known = before.find(file);
    if (known == before.end() || known->second != time) changed.push_back(file);
  }
  for (const auto& [file, time] : before) {
    if (after.count(file) == 0) changed.push_back(file);
  }
  return changed;
}

std::vector<TaskOfLab> tasks_of_files(const CourseTree& tree, const std::vector<std::string>& files) {
  std::vector<TaskOfLab> tasks;
  for (const std::string& file : files) {
    const std::size_t slash = file.find('/');
    const Rubric* lab = tree.find_lab(file.substr(0, slash));
    if (lab == nullptr) continue;
    for (const TaskOfLab& task : tasks_of_file(*lab, file.substr(slash + 1))) {
      const bool known =
          std::any_of(tasks.begin(), tasks.end(), [&](const TaskOfLab& each) { return each.task == task.task; });
      if (!known) tasks.push_back(task);
    }
  }
  return tasks;
}

}  // namespace lab
