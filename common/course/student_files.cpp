#include "common/course/student_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/starter_tree.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// The tasks that a task needs, directly or not, and the task itself.
std::set<std::string> with_needs(const Rubric& lab, const std::string& id) {
  std::set<std::string> all = {id};
  std::vector<std::string> open = {id};
  while (!open.empty()) {
    const RubricTask* task = lab.find_task(open.back());
    open.pop_back();
    for (const std::string& need : task->needs) {
      if (all.insert(need).second) open.push_back(need);
    }
  }
  return all;
}

/// The first line, from 1, that has `what`, not in a comment if it is code; 0: there is none.
std::size_t first_line_with(const std::string& what, const std::string& text, bool is_code) {
  std::size_t number = 0;
  for (const std::string& line : list_lines(text)) {
    ++number;
    const std::size_t at = line.find(what);
    if (at != std::string::npos && (!is_code || line.find("//") > at)) return number;
  }
  return 0;
}

}  // namespace

std::vector<std::string> files_below(const CourseTree& tree, const Rubric& lab, const std::string& path) {
  const fs::path folder = tree.get_folder(lab);
  std::error_code ignored;
  if (fs::is_regular_file(folder / path, ignored)) return {path};
  std::vector<std::string> files;
  std::error_code failure;  // a folder that cannot be read, or goes meanwhile, has no more files
  fs::recursive_directory_iterator entry(folder / path, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    const bool hidden = entry->path().filename().string().front() == '.';
    if (hidden) entry.disable_recursion_pending();
    if (hidden || !entry->is_regular_file(ignored) || entry->path().extension() == ".new") continue;
    files.push_back(entry->path().lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> student_files(const CourseTree& tree, const Rubric& lab) {
  return files_below(tree, lab, "student");
}

std::vector<std::string> files_of_task(const CourseTree& tree, const TaskOfLab& task) {
  std::set<std::string> files;
  for (const std::string& id : with_needs(*task.lab, task.task->id)) {
    const std::string& own = task.lab->find_task(id)->file;
    for (const std::string& source : task.lab->hand_in.sources) {
      if (!is_below_any(own, {source})) continue;
      const std::vector<std::string> together = files_below(tree, *task.lab, source);
      files.insert(together.begin(), together.end());
    }
  }
  return {files.begin(), files.end()};
}

std::string fingerprint_of_task(const CourseTree& tree, const TaskOfLab& task) {
  std::string all;
  for (const std::string& file : files_of_task(tree, task)) {
    all += file + "\n" + read_file(tree.get_folder(*task.lab) + "/" + file);
  }
  return compute_fingerprint(all);
}

bool changed_after(const CourseTree& tree, const TaskOfLab& task, const std::string& since) {
  std::error_code failure;
  const auto time = fs::last_write_time(since, failure);
  const std::vector<std::string> files = files_of_task(tree, task);
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return fs::last_write_time(tree.get_folder(*task.lab) + "/" + file, failure) > time;
  });
}

std::size_t line_of_todo(const std::string& text, const std::string& task_id) {
  return first_line_with("TODO(" + task_id + ")", text, false);
}

std::size_t line_of_stub(const std::string& text, const std::string& task_id) {
  return first_line_with("not_implemented(\"" + task_id + "\"", text, true);
}

}  // namespace lab
