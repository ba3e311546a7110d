#include "common/course/task_progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/json.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
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
  text += place_line("read", find_readme(tree, task));
  for (const std::string& header : list_contracts(tree, task)) text += place_line("", {header, 0, ""});
  text += fmt::format("  check  ./lab check {}\n", own.id);
  text += fmt::format("  stuck? ./lab hint {}\n", own.id);
  return text;
}

/// What to hand in along with the code, once all tasks are solved.
std::string all_solved_text(const Rubric& lab) {
  std::string text = fmt::format("every task of {} is solved\n", lab.lab);
  if (!lab.hand_in.answers.empty()) text += fmt::format("  with it  {}\n", fmt::join(lab.hand_in.answers, ", "));
  return text + fmt::format("  pack it  ./lab submit {}\n", shorten_name(lab.lab));
}

}  // namespace

LabStanding find_standing(const CourseTree& tree, const Rubric& lab, const ProgressFile& progress) {
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
    const LabStanding standing = find_standing(tree, *lab, progress);
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
    const LabStanding standing = find_standing(tree, *lab, progress);
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

namespace {

constexpr char kNothing[] = "-";
constexpr int kMostHints = 3;

std::optional<TaskProgress::State> parse_state(const std::string& text) {
  for (const auto state : {TaskProgress::State::kUnknown, TaskProgress::State::kToDo, TaskProgress::State::kWrong,
                           TaskProgress::State::kSolved}) {
    if (text == to_text(state)) return state;
  }
  return std::nullopt;
}

std::string or_nothing(const std::string& text) {
  return text.empty() ? kNothing : text;
}

/// nullopt if the words are not a line of this file.
std::optional<TaskProgress> parse_progress(const std::vector<std::string>& fields) {
  if (fields.size() != 5) return std::nullopt;
  const auto state = parse_state(fields[1]);
  const std::string& hints = fields[4];
  if (!state || hints.size() != 1 || hints[0] < '0' || hints[0] > '0' + kMostHints) return std::nullopt;
  const auto text = [](const std::string& field) { return field == kNothing ? "" : field; };
  return TaskProgress{*state, text(fields[2]), text(fields[3]), hints[0] - '0'};
}

}  // namespace

TaskProgress::State CheckedTask::state() const {
  if (skipped) return TaskProgress::State::kUnknown;
  if (passed) return TaskProgress::State::kSolved;
  return exit_code == static_cast<int>(ExitCode::kNotImplemented) ? TaskProgress::State::kToDo
                                                                  : TaskProgress::State::kWrong;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckedTask, task, passed, skipped, exit_code)

std::vector<CheckedTask> read_check_results(const std::string& path) {
  return from_json_text<std::vector<CheckedTask>>(read_file(path), "the JSON of a lab's check in " + path);
}

void remember(const std::vector<CheckedTask>& results, const CourseTree& tree, ProgressFile& progress) {
  for (const CheckedTask& result : results) {
    for (const Rubric& lab : tree.labs()) {
      const RubricTask* task = lab.find_task(result.task);
      if (task == nullptr || result.skipped) continue;
      TaskProgress now = progress.of(result.task);
      now.state = result.state();
      now.date = today();
      now.fingerprint = fingerprint_of_task(tree, {&lab, task});
      progress.set(result.task, now);
    }
  }
}

ProgressFile ProgressFile::load(const std::string& root) {
  ProgressFile progress;
  progress.path_ = root + "/.lab-progress";
  if (!std::filesystem::exists(progress.path_)) return progress;
  std::size_t number = 0;
  for (const std::string& line : list_lines(read_file(progress.path_))) {
    ++number;
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; stream >> field;) fields.push_back(field);
    if (fields.empty() || fields[0][0] == '#') continue;
    const auto task = parse_progress(fields);
    if (!task || progress.tasks_.count(fields[0]) != 0) {
      throw UsageError(
          fmt::format("{}:{}: expected a task (each once), todo, wrong, solved or -, a date, a checksum and the number "
                      "of hints, got '{}'; hint: fix the line or delete it",
                      progress.path_, number, without_line_break(line)));
    }
    progress.tasks_[fields[0]] = *task;
  }
  return progress;
}

void ProgressFile::save() const {
  std::size_t widest = 0;
  for (const auto& [task, unused] : tasks_) widest = std::max(widest, task.size());
  std::string text = "# What ./lab next, check and hint remember. Yours to edit; delete it to begin anew.\n";
  text += fmt::format("# {:<{}}  state   date        files{:<20}  hints\n", "task",
                      widest - std::min<std::size_t>(widest, 2), "");
  for (const auto& [task, progress] : tasks_) {
    text += fmt::format("{:<{}}  {:<6}  {:<10}  {:<25}  {}\n", task, widest, to_text(progress.state),
                        or_nothing(progress.date), or_nothing(progress.fingerprint), progress.hints);
  }
  write_file_atomically(path_, text);
}

TaskProgress ProgressFile::of(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? TaskProgress() : found->second;
}

std::string to_text(TaskProgress::State state) {
  switch (state) {
    case TaskProgress::State::kToDo: return "todo";
    case TaskProgress::State::kWrong: return "wrong";
    case TaskProgress::State::kSolved: return "solved";
    case TaskProgress::State::kUnknown: break;
  }
  return kNothing;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::localtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace lab
