#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// What is remembered of a task.
struct TaskProgress {
  enum class State { kUnknown, kToDo, kWrong, kSolved };
  State state = State::kUnknown;
  std::string date;         ///< of the last check: "2026-11-22"; empty: never checked
  std::string fingerprint;  ///< of the student's files then
  int hints = 0;            ///< levels that were shown
};

/// The file .lab-progress in the tree's root: what `lab next`, `check` and `hint` remember. One line for each task, as
/// text; a student may edit or delete it, and loses only this memory.
///
///     # task          state   date        files              hints
///     a9.broadcast    solved  2026-11-22  2041-8c5f3a0e11...  1
///
/// Errors    all: UsageError: it cannot be read or written; an invalid line, with its number
class ProgressFile {
 public:
  /// Empty if there is no such file.
  static ProgressFile load(const std::string& root);
  /// Writes it, complete or not at all.
  void save() const;

  /// The default if nothing is remembered of the task.
  TaskProgress of(const std::string& task) const;
  void set(const std::string& task, const TaskProgress& progress) { tasks_[task] = progress; }

 private:
  std::string path_;
  std::map<std::string, TaskProgress> tasks_;
};

/// "solved", "wrong", "todo", "-"
std::string to_text(TaskProgress::State state);

/// Today's date, "2026-11-22".
std::string today();

/// What `LAB check --json FILE` says of one task.
struct CheckedTask {
  std::string task;
  bool passed = false, skipped = false;
  int exit_code = 0;

  TaskProgress::State state() const;  ///< kUnknown: it was skipped
};

/// Errors    UsageError: it cannot be read, or is not such a file
std::vector<CheckedTask> read_check_results(const std::string& path);

/// Remembers the results, with today's date and the student's files as they are now. A task that was skipped stays as
/// it was; one that the rubrics do not have is ignored.
void remember(const std::vector<CheckedTask>& results, const CourseTree& tree, ProgressFile& progress);

/// The progress of a lab.
struct LabStanding {
  std::vector<std::string> solved;       ///< and nothing has changed since
  std::vector<std::string> check_again;  ///< solved, but files that it depends on have changed since
  /// The first task in the rubric's order that is not solved while all that it needs is; nullptr: all are solved.
  const RubricTask* next = nullptr;
};

LabStanding find_standing(const CourseTree& tree, const Rubric& lab, const ProgressFile& progress);

/// What `lab next` prints: the next task of these labs, where to edit, what to read, how to check it.
std::string next_task_text(const CourseTree& tree, const std::vector<const Rubric*>& labs,
                           const ProgressFile& progress);

/// What `lab status` prints: a line for each task.
std::string status_text(const CourseTree& tree, const std::vector<const Rubric*>& labs, const ProgressFile& progress);

}  // namespace lab
