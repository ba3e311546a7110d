#pragma once

#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"

namespace lab {

/// A task, and the lab that it belongs to.
struct TaskOfLab {
  const Rubric* lab = nullptr;
  const RubricTask* task = nullptr;
};

/// The labs of a tree, as their rubrics describe them: what the student's commands know.
class CourseTree {
 public:
  /// Every folder of `root` that has a rubric.toml, by name.
  /// Errors    UsageError: there is none; what load_rubric() refuses
  static CourseTree load(const std::string& root);

  const std::string& root() const { return root_; }
  const std::vector<Rubric>& labs() const { return labs_; }
  std::string get_folder(const Rubric& lab) const { return root_ + "/" + lab.lab; }

  /// Errors    UsageError: there is none; names the nearest
  const Rubric& lab_named(const std::string& name) const;
  /// The same; nullptr if there is none.
  const Rubric* find_lab(const std::string& name) const;
  /// A task by its id, or by the part after the lab's name if only one lab has it: "a9.broadcast", "broadcast".
  /// Errors    UsageError: there is none (names the nearest) or more than one (names them)
  TaskOfLab task_named(const std::string& name) const;

 private:
  std::vector<std::string> folders() const;

  std::string root_;
  std::vector<Rubric> labs_;
};

}  // namespace lab
