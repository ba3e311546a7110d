#include "grading/judge/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"

namespace lab::grading {
namespace {

using Files = std::set<std::string>;

constexpr const char* kShakenHint = "; in this run messages were delayed at random, as lab check --shake does";

const TaskOutcome* find(const Outcomes& outcomes, const std::string& task) {
  const auto found = outcomes.find(task);
  return found == outcomes.end() ? nullptr : &found->second;
}

bool has_failed(const Outcomes& outcomes, const std::string& task) {
  const TaskOutcome* const found = find(outcomes, task);
  return found != nullptr && !found->passed();
}

/// The check of this name; a new one that was not run, if there is none.
CaseVerdict& find_check(TaskOutcome& outcome, const std::string& name) {
  const auto found = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                  [&](const CaseVerdict& other) { return other.name == name; });
  return found != outcome.checks.end() ? *found : *outcome.checks.insert(found, CaseVerdict{name});
}

/// What a check says after a run that was not right.
CaseVerdict failed_check(const CaseVerdict& run, const CheckedSizes& sizes) {
  CaseVerdict check{run.name, run.worth, run.reason};
  if (run.ranks.empty() || run.worth == Worth::kNotJudged) return check;  // the reason says it all
  if (run.worth == Worth::kNotImplemented) check.worth = Worth::kFailed;
  // A world that failed after its only result arrived failed because of that check: a message that was never received.
  const bool no_result = run.reason.empty() || std::any_of(run.ranks.begin(), run.ranks.end(), [](const auto& rank) {
                           return rank.end == CaseEnd::kNothing || rank.end == CaseEnd::kThrew;
                         });
  const bool says_failure = no_result && !run.failure.empty();
  const auto num_ranks = static_cast<int>(run.ranks.size());
  check.reason = fmt::format("on {}: {}", counted(num_ranks, "rank"), says_failure ? run.failure : run.reason);
  if (num_ranks != sizes.all().front()) check.reason += kShakenHint;
  if (!no_result) {  // else it depends on the machine how far the others had come
    check.used = run.used;
    check.limits = run.limits;
  }
  check.timeline = run.timeline;
  if (says_failure && run.failure_code == static_cast<int>(ExitCode::kDeadlock)) {
    check.symptom.id = "deadlock";
  } else {
    check.symptom = run.symptom;
    if (says_failure) check.symptom.message.clear();
  }
  return check;
}

void take_run(const CaseVerdict& run, const CheckedSizes& sizes, TaskOutcome& outcome) {
  if (outcome.worth == Worth::kNotRun) outcome.worth = Worth::kAsChecked;
  CaseVerdict& check = find_check(outcome, run.name);
  if (!run.is_fine()) {
    check = failed_check(run, sizes);
  } else if (run.passed() || check.worth == Worth::kNotRun) {
    check.worth = run.worth;
  }
  if (run.worth != Worth::kNotImplemented) return;
  outcome.worth = Worth::kNotImplemented;
  outcome.missing_task = run.missing_task();
  outcome.reason = fmt::format("TODO({}) is still there", outcome.missing_task);
}

/// Why a check is not enough for marks if it alone is right; empty: it is enough.
class NotEnough {
 public:
  NotEnough(const std::vector<Case>& cases, const CheckedSizes& sizes) : sizes_(sizes) {
    for (const Case& test_case : cases)
      if (test_case.earns_alone && num_sizes(test_case) > 1) on_several_sizes_.insert(test_case.task);
  }

  std::string reason(const Case& test_case) const {
    if (!test_case.earns_alone)
      return "right, but a function that does nothing passes, too: counts only if another check is right";
    if (num_sizes(test_case) > 1 || on_several_sizes_.count(test_case.task) == 0) return "";
    return "right, but judged on one number of ranks only: counts only if a check on several is right";
  }

 private:
  std::ptrdiff_t num_sizes(const Case& test_case) const {
    const std::vector<int> all = sizes_.all();
    return std::count_if(all.begin(), all.end(), [&](int size) {
      return sizes_.include(test_case, size) && find_skip_reason(test_case, size).empty();
    });
  }

  const CheckedSizes& sizes_;
  std::set<std::string> on_several_sizes_;  // tasks with a check that is judged on these
};

/// The ids of the file's tasks.
std::vector<std::string> tasks_of_file(const Rubric& rubric, const std::string& file) {
  std::vector<std::string> own, neighbours;
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const RubricTask& task : rubric.tasks) {
    if (is_below_any(file, {task.file})) own.push_back(task.id);
    if (is_below_any(task.file, {folder})) neighbours.push_back(task.id);
  }
  return own.empty() ? neighbours : own;
}

void withhold(const std::string& task, const std::string& reason, Outcomes& outcomes) {
  const auto found = outcomes.find(task);
  if (found == outcomes.end() || found->second.passed() || found->second.not_judged()) return;
  TaskOutcome& result = found->second;
  result.worth = Worth::kNotJudged;
  result.reason = reason;
  for (CaseVerdict& check : result.checks) {  // rungs and bonuses may need them
    if (check.is_fine()) continue;
    check.worth = Worth::kNotJudged;
    check.reason.clear();
  }
}

/// A check of the task that failed without help and passed with it: preferably one that was wrong, not just too costly.
const CaseVerdict* helped_check(const TaskOutcome& unaided, const TaskOutcome& aided) {
  const CaseVerdict* helped = nullptr;
  for (const CaseVerdict& check : unaided.checks) {
    const CaseVerdict* again = aided.find(check.name);
    if (check.is_fine() || again == nullptr || !again->passed()) continue;
    if (helped == nullptr || helped->too_expensive()) helped = &check;
  }
  return helped;
}

/// The better of the two outcomes of each check. One that was reached only with help keeps that run's reason.
TaskOutcome merged(const TaskOutcome& unaided, TaskOutcome aided) {
  if (unaided.worth != Worth::kAsChecked) return aided;
  for (CaseVerdict& check : aided.checks) {
    const CaseVerdict* before = unaided.find(check.name);
    if (before != nullptr && before->is_fine()) check = *before;
  }
  return aided;
}

std::vector<std::string> failed_needs(const RubricTask& task, const Outcomes& outcomes) {
  std::vector<std::string> failed;
  std::copy_if(task.needs.begin(), task.needs.end(), std::back_inserter(failed),
               [&](const std::string& need) { return has_failed(outcomes, need); });
  return failed;
}

Files list_files(const Facts& facts, const std::vector<std::string>& entries) {
  Files found;
  for (const std::string& file : facts.files) {
    if (is_below_any(file, entries)) found.insert(file);
  }
  return found;
}

/// The files that the reference may replace: those of `stand_in` that are not the task's own, nor those whose cost only
/// this task judges, unless their own task failed. If the task's own file is a folder of other tasks' files: those that
/// were written but whose tasks failed, as long as the submission's file for another of its needs is left.
Files replaceable(const Facts& facts, const RubricTask& task, const Outcomes& outcomes) {
  const Files own = list_files(facts, {task.file});
  Files others, failed_own;
  bool some_left = false;
  const auto own_task_failed = [&](const std::string& file) {
    return std::any_of(facts.rubric.tasks.begin(), facts.rubric.tasks.end(), [&](const RubricTask& other) {
      return is_below_any(file, {other.file}) && has_failed(outcomes, other.id);
    });
  };
  const Files kept = list_files(facts, task.judges_cost);
  for (const std::string& file : list_files(facts, task.stand_in)) {
    if (own.count(file) == 0 && (kept.count(file) == 0 || own_task_failed(file))) others.insert(file);
  }
  for (const std::string& need : task.needs) {
    for (const std::string& file : list_files(facts, {facts.rubric.find_task(need)->file})) {
      const TaskOutcome* const found = find(outcomes, need);
      if (own.count(file) == 0 || facts.own_files.count(file) == 0 || found == nullptr) continue;
      const bool failed = found->worth == Worth::kAsChecked && !found->passed();
      if (failed && list_files(facts, task.stand_in).count(file) != 0) failed_own.insert(file);
      some_left = some_left || !failed;
    }
  }
  if (some_left) others.insert(failed_own.begin(), failed_own.end());
  return others;
}

/// Whether the TODO that was reached is in a file that stays.
bool would_reach_todo(const Facts& facts, const TaskOutcome& unaided, const Files& reference) {
  const RubricTask* missing = facts.rubric.find_task(unaided.missing_task);
  if (unaided.worth != Worth::kNotImplemented || missing == nullptr) return false;
  const Files its_files = list_files(facts, {missing->file});
  return std::none_of(its_files.begin(), its_files.end(),
                      [&](const std::string& file) { return reference.count(file) != 0; });
}

/// As few names as possible for these files: those entries of `stand_in` of which each file is one, and what is left.
std::vector<std::string> named(const Facts& facts, const Files& replaced, const RubricTask& task) {
  Files left = replaced;
  std::vector<std::string> names;
  for (const std::string& entry : task.stand_in) {
    const Files some = list_files(facts, {entry});
    if (some.empty() || !std::includes(left.begin(), left.end(), some.begin(), some.end())) continue;
    names.push_back(entry);
    for (const std::string& file : some) left.erase(file);
  }
  names.insert(names.end(), left.begin(), left.end());
  return names;
}

/// The task's outcome with the reference's version of these files, where what is fine without them need not be run again;
/// nullopt: such a program cannot be built.
std::optional<TaskOutcome> judge_again(const Facts& facts, const TaskOutcome& unaided, const Files& reference) {
  TaskOutcome aided{unaided.id};
  Files fine;
  if (unaided.worth == Worth::kAsChecked) {
    aided.worth = unaided.worth;
    for (const CaseVerdict& check : unaided.checks) {
      aided.checks.push_back(check.is_fine() ? check : CaseVerdict{check.name});
      if (check.is_fine()) fine.insert(check.name);
    }
  }
  const std::optional<Runs> runs = facts.runs_with_reference(unaided.id, reference, fine);
  if (!runs) return std::nullopt;
  if (!runs->not_judged.empty()) return TaskOutcome{unaided.id, Worth::kNotJudged, {}, "", runs->not_judged};
  for (const CaseVerdict& run : runs->verdicts) take_run(run, facts.sizes, aided);
  return take_back_weak(facts, {{aided.id, aided}}).at(aided.id);
}

/// The entry of `stand_in` that is to blame: with the reference in its place alone, the task passes. `known` ones are
/// tried first. Empty if no single one is.
std::string entry_to_blame(const Facts& facts, const RubricTask& task, const Files& all, const TaskOutcome& unaided,
                           const Files& known) {
  std::vector<std::string> entries = task.stand_in;
  std::stable_partition(entries.begin(), entries.end(), [&](const auto& entry) { return known.count(entry) != 0; });
  for (const std::string& entry : entries) {
    const Files some = list_files(facts, {entry});
    if (!std::includes(all.begin(), all.end(), some.begin(), some.end()) || some.empty()) continue;
    if (some == all) return entry;
    const std::optional<TaskOutcome> aided = judge_again(facts, unaided, some);
    if (aided && merged(unaided, *aided).passed()) return entry;
  }
  return "";
}

/// Adds a failed check to the task that the entry belongs to: the need with that file, else the first task. Adds none
/// if the file has already cost marks in another of its tasks.
void blame(const Facts& facts, const RubricTask& user, const std::string& entry, const CaseVerdict& failed,
           Outcomes& outcomes) {
  const std::vector<RubricTask>& tasks = facts.rubric.tasks;
  const RubricTask* culprit = nullptr;
  for (const RubricTask& task : tasks) {
    if (task.file == entry && has_failed(outcomes, task.id)) return;
  }
  for (const std::string& need : user.needs) {
    const RubricTask* task = facts.rubric.find_task(need);
    if (culprit == nullptr && is_below_any(task->file, {entry})) culprit = task;
  }
  for (const RubricTask& task : tasks) {
    if (culprit == nullptr && is_below_any(task.file, {entry})) culprit = &task;
  }
  const auto found = culprit == nullptr ? outcomes.end() : outcomes.find(culprit->id);
  if (found == outcomes.end() || !found->second.passed()) return;
  CaseVerdict check = failed;
  check.name = fmt::format("Used by {}", user.id);
  found->second.checks.push_back(std::move(check));
}

}  // namespace

Outcomes take_runs(const Facts& facts, Outcomes outcomes) {
  for (const std::string& task : facts.tasks) {
    outcomes[task] = facts.runs.not_judged.empty()
                         ? TaskOutcome{task}
                         : TaskOutcome{task, Worth::kNotJudged, {}, "", facts.runs.not_judged};
  }
  for (const CaseVerdict& run : facts.runs.verdicts) take_run(run, facts.sizes, outcomes[run.task]);
  return outcomes;
}

Outcomes take_back_weak(const Facts& facts, Outcomes outcomes) {
  const NotEnough not_enough(facts.cases, facts.sizes);
  std::map<std::string, std::vector<std::pair<CaseVerdict*, std::string>>> weak;
  std::set<std::string> earning;  // tasks, by a check that has passed or may still
  for (const Case& test_case : facts.cases) {
    const auto outcome = outcomes.find(test_case.task);
    if (outcome == outcomes.end() || outcome->second.worth != Worth::kAsChecked) continue;
    for (CaseVerdict& check : outcome->second.checks) {
      if (check.name != test_case.name || (!check.passed() && check.worth != Worth::kNotJudged)) continue;
      const std::string reason = not_enough.reason(test_case);
      if (reason.empty()) {
        earning.insert(test_case.task);
      } else {
        weak[test_case.task].emplace_back(&check, reason);
      }
    }
  }
  for (const auto& [task, checks] : weak) {
    for (const auto& [check, reason] : checks) {
      if (earning.count(task) != 0 || !check->passed()) continue;
      check->worth = Worth::kFailed;
      check->reason = reason;
    }
  }
  return outcomes;
}

Outcomes explain_left_out(const Facts& facts, Outcomes outcomes) {
  for (auto& [id, outcome] : outcomes) {
    const auto left_out = facts.left_out.find(facts.rubric.find_task(id)->file);
    if (left_out != facts.left_out.end() && !outcome.passed())
      outcome.reason = fmt::format("{}: {}", left_out->first, left_out->second);
  }
  return outcomes;
}

Outcomes withhold_tasks(const Facts& facts, Outcomes outcomes) {
  for (const std::string& file : facts.to_look_at) {
    for (const std::string& task : tasks_of_file(facts.rubric, file))
      withhold(task, fmt::format("{}: {}", file, facts.left_out.at(file)), outcomes);
  }
  return outcomes;
}

Outcomes let_reference_stand_in(const Facts& facts, Outcomes outcomes) {
  if (!facts.runs_with_reference) return outcomes;
  // Needs are judged without help: a task that passed only with the reference has failed as a need.
  const Outcomes unaided = outcomes;
  Files blamed;
  for (const std::string& id : facts.tasks) {
    TaskOutcome& result = outcomes.at(id);
    const RubricTask& task = *facts.rubric.find_task(id);
    if (result.passed() || result.not_judged()) continue;
    const std::vector<std::string> failed = failed_needs(task, unaided);
    if (!failed.empty()) result.skipped_because = failed.front();
    const Files own = list_files(facts, {task.file}), all = replaceable(facts, task, outcomes);
    const bool is_written =
        std::any_of(own.begin(), own.end(), [&](const std::string& file) { return facts.own_files.count(file) != 0; });
    if (all.empty() || !is_written || would_reach_todo(facts, result, all)) continue;
    const std::optional<TaskOutcome> aided = judge_again(facts, result, all);
    if (!aided) continue;
    const TaskOutcome before = result;
    result = merged(before, *aided);
    if (aided->worth == Worth::kNotJudged) continue;
    const CaseVerdict* helped = helped_check(before, result);
    if (!failed.empty()) {
      result.stand_in = fmt::format("the reference in place of {}, since {} failed",
                                    fmt::join(named(facts, all, task), ", "), fmt::join(failed, " and "));
    } else if (helped == nullptr) {
      result = before;  // its own fault
    } else {
      const std::string entry = entry_to_blame(facts, task, all, before, blamed);
      blamed.insert(entry);
      const std::string parts = entry.empty() ? fmt::format("{}", fmt::join(named(facts, all, task), ", ")) : entry;
      const bool costly = helped->too_expensive();
      result.stand_in = fmt::format("the reference in place of {}; with the submission's own, {} {}: {}", parts,
                                    helped->name, costly ? "is right, but too expensive" : "fails", helped->reason);
      if (!costly && !entry.empty()) blame(facts, task, entry, *helped, outcomes);
    }
  }
  return outcomes;
}

Outcomes withhold_dependents(const Facts& facts, Outcomes outcomes) {
  for (const std::string& file : facts.to_look_at) {
    std::set<std::string> dependents;
    for (const std::string& task : tasks_of_file(facts.rubric, file)) {
      for (const std::string& dependent : facts.rubric.find_dependents(task)) dependents.insert(dependent);
    }
    for (const RubricTask& task : facts.rubric.tasks) {
      if (is_below_any(file, task.stand_in)) dependents.insert(task.id);
    }
    for (const std::string& task : dependents) {
      const TaskOutcome* const found = find(outcomes, task);
      if (found != nullptr && found->stand_in.empty())
        withhold(task, fmt::format("needs a look: it builds on {}, which was left out", file), outcomes);
    }
  }
  return outcomes;
}

Outcomes outcomes_by_rules(const Facts& facts) {
  Outcomes outcomes;
  for (const Rule rule : kRules) outcomes = rule(facts, std::move(outcomes));
  return outcomes;
}

}  // namespace lab::grading
