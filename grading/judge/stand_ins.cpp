#include "grading/judge/stand_ins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lab::grading {
namespace {

using CheckState = CheckOutcome::State;

bool is_below(const std::string& file, const std::string& entry) {
  return file == entry || file.compare(0, entry.size() + 1, entry + "/") == 0;
}

const CheckOutcome* find_check(const TaskOutcome& task, const std::string& name) {
  const auto found =
      std::find_if(task.checks.begin(), task.checks.end(), [&](const CheckOutcome& one) { return one.name == name; });
  return found == task.checks.end() ? nullptr : &*found;
}

/// A check of the task that failed without help and passed with it: preferably one that was wrong, not just too costly.
const CheckOutcome* helped_check(const TaskOutcome& unaided, const TaskOutcome& aided) {
  const CheckOutcome* helped = nullptr;
  for (const CheckOutcome& check : unaided.checks) {
    const CheckOutcome* again = find_check(aided, check.name);
    if (check.is_fine() || again == nullptr || again->state != CheckState::kPassed) continue;
    if (helped == nullptr || helped->state == CheckState::kTooExpensive) helped = &check;
  }
  return helped;
}

/// The better of the two outcomes of each check. One that was reached only with help keeps that run's reason.
TaskOutcome merged(const TaskOutcome& unaided, TaskOutcome aided) {
  if (unaided.state != TaskOutcome::State::kJudged) return aided;
  for (CheckOutcome& check : aided.checks) {
    const CheckOutcome* before = find_check(unaided, check.name);
    if (before != nullptr && before->is_fine()) check = *before;
  }
  return aided;
}

std::vector<std::string> failed_needs(const RubricTask& task, const std::map<std::string, TaskOutcome>& outcomes) {
  std::vector<std::string> failed;
  for (const std::string& need : task.needs) {
    const auto found = outcomes.find(need);
    if (found != outcomes.end() && !found->second.passed()) failed.push_back(need);
  }
  return failed;
}

}  // namespace

std::set<std::string> StandIns::files_of(const std::vector<std::string>& entries) const {
  std::set<std::string> found;
  for (const std::string& file : files) {
    if (std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return is_below(file, entry); }))
      found.insert(file);
  }
  return found;
}

/// The files that the reference may replace: those of `stand_in` that are not the task's own, nor those whose cost only
/// this task judges, unless their own task failed. If the task's own file is a folder of other tasks' files: those that
/// were written but whose tasks failed, as long as the submission's file for another of its needs is left.
std::set<std::string> StandIns::replaceable(const RubricTask& task, const LabOutcome& outcome) const {
  const std::set<std::string> own = files_of({task.file});
  std::set<std::string> others, failed_own;
  bool some_left = false;
  const auto own_task_failed = [&](const std::string& file) {
    return std::any_of(rubric.tasks.begin(), rubric.tasks.end(), [&](const RubricTask& other) {
      const auto found = outcome.tasks.find(other.id);
      return is_below(file, other.file) && found != outcome.tasks.end() && !found->second.passed();
    });
  };
  const std::set<std::string> kept = files_of(task.judges_cost_of);
  for (const std::string& file : files_of(task.stand_in)) {
    if (own.count(file) == 0 && (kept.count(file) == 0 || own_task_failed(file))) others.insert(file);
  }
  for (const std::string& need : task.needs) {
    for (const std::string& file : files_of({rubric.find_task(need)->file})) {
      const auto found = outcome.tasks.find(need);
      if (own.count(file) == 0 || !is_own(file) || found == outcome.tasks.end()) continue;
      const bool failed = found->second.state == TaskOutcome::State::kJudged && !found->second.passed();
      if (failed && files_of(task.stand_in).count(file) != 0) failed_own.insert(file);
      some_left = some_left || !failed;
    }
  }
  if (some_left) others.insert(failed_own.begin(), failed_own.end());
  return others;
}

/// Whether the TODO that was reached is in a file that stays.
bool StandIns::would_reach_todo(const TaskOutcome& unaided, const std::set<std::string>& reference) const {
  const RubricTask* missing = rubric.find_task(unaided.missing_task);
  if (unaided.state != TaskOutcome::State::kNotImplemented || missing == nullptr) return false;
  const std::set<std::string> its_files = files_of({missing->file});
  return std::none_of(its_files.begin(), its_files.end(),
                      [&](const std::string& file) { return reference.count(file) != 0; });
}

/// As few names as possible for these files: those entries of `stand_in` of which each file is one, and what is left.
std::vector<std::string> StandIns::named(const std::set<std::string>& replaced, const RubricTask& task) const {
  std::set<std::string> left = replaced;
  std::vector<std::string> names;
  for (const std::string& entry : task.stand_in) {
    const std::set<std::string> some = files_of({entry});
    if (some.empty() || !std::includes(left.begin(), left.end(), some.begin(), some.end())) continue;
    names.push_back(entry);
    for (const std::string& file : some) left.erase(file);
  }
  names.insert(names.end(), left.begin(), left.end());
  return names;
}

/// The entry of `stand_in` that is to blame: with the reference in its place alone, the task passes. `known` ones are
/// tried first. Empty if no single one is.
std::string StandIns::entry_to_blame(const RubricTask& task, const std::set<std::string>& all,
                                     const TaskOutcome& unaided, const std::set<std::string>& known) const {
  std::vector<std::string> entries = task.stand_in;
  std::stable_partition(entries.begin(), entries.end(), [&](const auto& entry) { return known.count(entry) != 0; });
  for (const std::string& entry : entries) {
    std::set<std::string> some = files_of({entry});
    if (!std::includes(all.begin(), all.end(), some.begin(), some.end()) || some.empty()) continue;
    if (some == all) return entry;
    const std::optional<TaskOutcome> aided = judge_again(task.id, some, unaided);
    if (aided && merged(unaided, *aided).passed()) return entry;
  }
  return "";
}

/// Adds a failed check to the task that the entry belongs to: the need with that file, else the first task. Adds none
/// if the file has already cost marks in another of its tasks.
void StandIns::blame(const RubricTask& user, const std::string& entry, const CheckOutcome& failed,
                     LabOutcome& outcome) const {
  const RubricTask* culprit = nullptr;
  for (const RubricTask& task : rubric.tasks) {
    const auto found = outcome.tasks.find(task.id);
    if (task.file == entry && found != outcome.tasks.end() && !found->second.passed()) return;
  }
  for (const std::string& need : user.needs) {
    const RubricTask* task = rubric.find_task(need);
    if (culprit == nullptr && is_below(task->file, entry)) culprit = task;
  }
  for (const RubricTask& task : rubric.tasks) {
    if (culprit == nullptr && is_below(task.file, entry)) culprit = &task;
  }
  const auto found = culprit == nullptr ? outcome.tasks.end() : outcome.tasks.find(culprit->id);
  if (found == outcome.tasks.end() || !found->second.passed()) return;
  CheckOutcome check = failed;
  check.name = fmt::format("Used by {}", user.id);
  found->second.checks.push_back(std::move(check));
}

void StandIns::apply(const std::vector<std::string>& tasks, LabOutcome& outcome) const {
  // Needs are judged without help: a task that passed only with the reference has failed as a need.
  const std::map<std::string, TaskOutcome> unaided = outcome.tasks;
  std::set<std::string> blamed;
  for (const std::string& id : tasks) {
    TaskOutcome& result = outcome.tasks.at(id);
    const RubricTask& task = *rubric.find_task(id);
    if (result.passed() || result.not_judged()) continue;
    const std::vector<std::string> failed = failed_needs(task, unaided);
    if (!failed.empty()) result.skipped_because = failed.front();
    const std::set<std::string> own = files_of({task.file});
    const std::set<std::string> all = replaceable(task, outcome);
    if (all.empty() || std::none_of(own.begin(), own.end(), is_own)) continue;
    if (would_reach_todo(result, all)) continue;
    const std::optional<TaskOutcome> aided = judge_again(id, all, result);
    if (!aided) continue;
    const TaskOutcome before = result;
    result = merged(before, *aided);
    if (aided->state == TaskOutcome::State::kNotJudged) continue;
    const CheckOutcome* helped = helped_check(before, result);
    if (!failed.empty()) {
      result.stand_in = fmt::format("the reference in place of {}, since {} failed", fmt::join(named(all, task), ", "),
                                    fmt::join(failed, " and "));
    } else if (helped == nullptr) {
      result = before;  // its own fault
    } else {
      const std::string entry = entry_to_blame(task, all, before, blamed);
      blamed.insert(entry);
      const std::string parts = entry.empty() ? fmt::format("{}", fmt::join(named(all, task), ", ")) : entry;
      const bool costly = helped->state == CheckState::kTooExpensive;
      result.stand_in = fmt::format("the reference in place of {}; with the submission's own, {} {}: {}", parts,
                                    helped->name, costly ? "is right, but too expensive" : "fails", helped->reason);
      if (!costly && !entry.empty()) blame(task, entry, *helped, outcome);
    }
  }
}

}  // namespace lab::grading
