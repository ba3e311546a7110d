#include "common/course/course_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"

namespace lab {

CourseTree CourseTree::load(const std::string& root) {
  CourseTree tree;
  tree.root_ = root;
  std::error_code ignored;
  std::vector<std::string> rubrics;
  for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
    const std::filesystem::path rubric = entry.path() / "rubric.toml";
    if (std::filesystem::is_regular_file(rubric, ignored)) rubrics.push_back(rubric.string());
  }
  std::sort(rubrics.begin(), rubrics.end());
  for (const std::string& rubric : rubrics) tree.labs_.push_back(load_rubric(rubric));
  if (tree.labs_.empty()) {
    throw UsageError(fmt::format("{}: expected the root folder of the labs, found no lab's rubric.toml in it", root));
  }
  return tree;
}

const Rubric* CourseTree::find_lab(const std::string& name) const {
  const auto found = lab::find_lab(name, folders());
  return found ? &labs_[*found] : nullptr;
}

const Rubric& CourseTree::lab_named(const std::string& name) const {
  return labs_[lab::lab_named(name, folders())];
}

std::vector<std::string> CourseTree::folders() const {
  std::vector<std::string> folders;
  for (const Rubric& lab : labs_) folders.push_back(lab.lab);
  return folders;
}

TaskOfLab CourseTree::task_named(const std::string& name) const {
  std::vector<TaskOfLab> found;
  std::vector<std::string> ids, ends;
  for (const Rubric& lab : labs_) {
    for (const RubricTask& task : lab.tasks) {
      ids.push_back(task.id);
      ends.push_back(task.id.substr(task.id.find('.') + 1));
      if (name == ids.back()) return {&lab, &task};
      if (name == ends.back()) found.push_back({&lab, &task});
    }
    ends.push_back(shorten_name(lab.lab));  // a lab instead of a task
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    std::vector<std::string> several;
    for (const TaskOfLab& each : found) several.push_back(each.task->id);
    throw UsageError(fmt::format("'{}' is a task of several labs; expected one of: {}", name, fmt::join(several, " ")));
  }
  std::string hint = did_you_mean(name, ids);
  if (hint.empty()) hint = did_you_mean(name, ends);
  throw UsageError(fmt::format("unknown task '{}'{}", name, hint.empty() ? "; lab status lists all tasks" : hint));
}

}  // namespace lab
