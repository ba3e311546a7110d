#include "common/course/next_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/lab_names.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/what_to_read.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

bool is_solved(const ProgressFile& progress, const std::string& task) {
  return progress.of(task).state == TaskProgress::State::kSolved;
}

std::string marks_text(const RubricTask& task) {
  if (task.marks == 0) return "";
  return fmt::format(" ({}{} mark{})", task.bonus ? "bonus, " : "", task.marks, task.marks == 1 ? "" : "s");
}

std::string place_line(const char* label, const ReadingPlace& place) {
  const std::string what = place.what.empty() ? "" : "  " + place.what;
  return fmt::format("  {:<6} {}{}\n", label, to_text(place), what);
}

std::string task_text(const CourseTree& tree, const TaskOfLab& task, const ProgressFile& progress) {
  const RubricTask& own = *task.task;
  std::string text = fmt::format("next: {}: {}{}\n", own.id, own.title, marks_text(own));
  if (progress.of(own.id).state == TaskProgress::State::kWrong) {
    text += fmt::format("  so far it was wrong, on {}\n", progress.of(own.id).date);
  }
  text += place_line("edit", place_to_edit(tree, task));
  text += place_line("read", readme_of(tree, task));
  for (const std::string& header : contracts_of(tree, task)) text += place_line("", {header, 0, ""});
  text += fmt::format("  check  ./lab check {}\n", own.id);
  text += fmt::format("  stuck? ./lab hint {}\n", own.id);
  return text;
}

/// What to hand in along with the code, once all tasks are solved.
std::string all_solved_text(const Rubric& lab) {
  std::string text = fmt::format("every task of {} is solved\n", lab.lab);
  if (!lab.hand_in.answers.empty()) text += fmt::format("  with it  {}\n", fmt::join(lab.hand_in.answers, ", "));
  return text + fmt::format("  pack it  ./lab submit {}\n", short_name_of(lab.lab));
}

}  // namespace

LabStanding standing_of(const CourseTree& tree, const Rubric& lab, const ProgressFile& progress) {
  LabStanding standing;
  for (const RubricTask& task : lab.tasks) {
    const TaskProgress known = progress.of(task.id);
    if (known.state == TaskProgress::State::kSolved) {
      const bool as_checked = known.fingerprint == fingerprint_of_task(tree, {&lab, &task});
      (as_checked ? standing.solved : standing.check_again).push_back(task.id);
      continue;
    }
    const bool ready = std::all_of(task.needs.begin(), task.needs.end(),
                                   [&](const std::string& need) { return is_solved(progress, need); });
    if (standing.next == nullptr && ready) standing.next = &task;
  }
  return standing;
}

std::string next_task_text(const CourseTree& tree, const std::vector<const Rubric*>& labs,
                           const ProgressFile& progress) {
  std::string text;
  for (const Rubric* lab : labs) {
    const LabStanding standing = standing_of(tree, *lab, progress);
    if (!standing.check_again.empty()) {
      text += fmt::format("files have changed since these were solved; check again: ./lab check {}\n",
                          fmt::join(standing.check_again, " "));
    }
    if (standing.next != nullptr) {
      text += fmt::format("{}: {} of {} tasks solved\n", lab->lab, standing.solved.size() + standing.check_again.size(),
                          lab->tasks.size());
      return text + task_text(tree, {lab, standing.next}, progress);
    }
    if (standing.check_again.empty()) text += all_solved_text(*lab);
  }
  return text;
}

std::string status_text(const CourseTree& tree, const std::vector<const Rubric*>& labs, const ProgressFile& progress) {
  std::string text;
  for (const Rubric* lab : labs) {
    const LabStanding standing = standing_of(tree, *lab, progress);
    text += fmt::format("{}: {} of {} tasks solved\n", lab->lab, standing.solved.size() + standing.check_again.size(),
                        lab->tasks.size());
    for (const RubricTask& task : lab->tasks) {
      const TaskProgress known = progress.of(task.id);
      const bool again =
          std::find(standing.check_again.begin(), standing.check_again.end(), task.id) != standing.check_again.end();
      text += fmt::format("  {:<7} {:<10} {}: {}{}\n", again ? "again" : to_text(known.state),
                          known.date.empty() ? "-" : known.date, task.id, task.title, marks_text(task));
    }
  }
  return text;
}

}  // namespace lab
