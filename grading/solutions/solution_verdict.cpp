#include "grading/solutions/solution_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/text.h"

namespace lab::grading {
namespace {

const CaseVerdict* first_failed(const TaskOutcome& task) {
  const auto found = std::find_if(task.checks.begin(), task.checks.end(), [](const CaseVerdict& check) {
    return check.worth == Worth::kFailed || check.worth == Worth::kTooExpensive;
  });
  return found == task.checks.end() ? nullptr : &*found;
}

std::vector<std::string> failed_checks(const TaskOutcome& task) {
  std::vector<std::string> names;
  for (const CaseVerdict& check : task.checks) {
    if (!check.is_fine()) names.push_back(check.name);
  }
  return names;
}

bool has_symptom(const TaskOutcome& task, const std::string& id) {
  return std::any_of(task.checks.begin(), task.checks.end(),
                     [&](const CaseVerdict& check) { return check.symptom.id == id; });
}

bool is_said(const TaskOutcome& task, const std::string& text) {
  return std::any_of(task.checks.begin(), task.checks.end(), [&](const CaseVerdict& check) {
    return !check.is_fine() && one_line(check.reason).find(text) != std::string::npos;
  });
}

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

Verdict solution_verdict(const Solution& solution, const Rubric& rubric, const LabOutcome& outcome) {
  Verdict verdict;
  verdict.seconds = outcome.seconds;
  std::vector<std::string> lost, not_judged;
  for (const RubricTask& task : rubric.tasks) {
    const auto found = outcome.tasks.find(task.id);
    if (found == outcome.tasks.end()) continue;
    if (found->second.not_judged())
      not_judged.push_back(task.id);
    else if (!found->second.passed())
      lost.push_back(task.id);
  }
  const auto target = outcome.tasks.find(solution.task);
  if (target != outcome.tasks.end()) {
    const CaseVerdict* check = first_failed(target->second);
    verdict.found =
        one_line(check == nullptr ? target->second.reason : fmt::format("{}: {}", check->name, check->reason));
    verdict.symptom = check == nullptr ? "" : check->symptom.id;
  }
  std::vector<std::string> complaints;
  if (!not_judged.empty()) complaints.push_back(fmt::format("not judged: {}", fmt::join(not_judged, ", ")));
  const std::vector<std::string> dependents = rubric.find_dependents(solution.task);
  if (!solution.right && !contains(lost, solution.task))
    complaints.push_back(fmt::format("{} was not caught", solution.task));
  for (const std::string& task : lost) {
    const bool may = !solution.right && (task == solution.task || (!solution.alone && contains(dependents, task)) ||
                                         contains(solution.also, task));
    if (may) continue;
    const TaskOutcome& loser = outcome.tasks.at(task);
    const CaseVerdict* check = first_failed(loser);
    complaints.push_back(fmt::format("{} lost marks, too ({})", task, check == nullptr ? loser.reason : check->reason));
  }
  if (target != outcome.tasks.end()) {
    const std::vector<std::string> failed = failed_checks(target->second);
    for (const std::string& check : solution.checks) {
      if (!contains(failed, check))
        complaints.push_back(fmt::format("expected {} to fail, got {}", check, fmt::join(failed, " ")));
    }
  }
  if (!solution.says.empty() && target != outcome.tasks.end() && !is_said(target->second, solution.says))
    complaints.push_back(fmt::format("expected a check to say '{}', got '{}'", solution.says, verdict.found));
  if (!solution.symptom.empty() && target != outcome.tasks.end() && !has_symptom(target->second, solution.symptom))
    complaints.push_back(fmt::format("expected the symptom {}, got {}", solution.symptom,
                                     verdict.symptom.empty() ? "none" : verdict.symptom));
  verdict.complaint = one_line(fmt::format("{}", fmt::join(complaints, "; ")));
  verdict.as_required = complaints.empty();
  return verdict;
}

}  // namespace lab::grading
