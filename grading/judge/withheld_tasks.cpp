#include "grading/judge/withheld_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common/course/rubric/rubric_check.h"

namespace lab::grading {
namespace {

/// The ids of the file's tasks.
std::vector<std::string> tasks_of_file(const Rubric& rubric, const std::string& file) {
  std::vector<std::string> own, neighbours;
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const RubricTask& task : rubric.tasks) {
    if (is_below_one_of(file, {task.file})) own.push_back(task.id);
    if (is_below_one_of(task.file, {folder})) neighbours.push_back(task.id);
  }
  return own.empty() ? neighbours : own;
}

void withhold(const std::string& task, const std::string& reason, LabOutcome& outcome) {
  const auto found = outcome.tasks.find(task);
  if (found == outcome.tasks.end() || found->second.passed() || found->second.not_judged()) return;
  TaskOutcome& result = found->second;
  result.state = TaskOutcome::State::kNotJudged;
  result.reason = reason;
  for (CheckOutcome& check : result.checks) {  // rungs and bonuses may need them
    if (check.state == CheckOutcome::State::kPassed || check.state == CheckOutcome::State::kSkipped) continue;
    check.state = CheckOutcome::State::kNotJudged;
    check.reason.clear();
  }
}

}  // namespace

void withhold_tasks(const Rubric& rubric, const std::map<std::string, std::string>& files, LabOutcome& outcome) {
  for (const auto& [file, reason] : files) {
    for (const std::string& task : tasks_of_file(rubric, file))
      withhold(task, fmt::format("{}: {}", file, reason), outcome);
  }
}

void withhold_dependents(const Rubric& rubric, const std::map<std::string, std::string>& files, LabOutcome& outcome) {
  for (const auto& named_file : files) {
    const std::string& file = named_file.first;
    std::set<std::string> dependents;
    for (const std::string& task : tasks_of_file(rubric, file)) {
      for (const std::string& dependent : rubric.dependents_of(task)) dependents.insert(dependent);
    }
    for (const RubricTask& task : rubric.tasks) {
      if (is_below_one_of(file, task.stand_in)) dependents.insert(task.id);
    }
    for (const std::string& task : dependents) {
      const auto found = outcome.tasks.find(task);
      if (found != outcome.tasks.end() && found->second.stand_in.empty())
        withhold(task, fmt::format("needs a look: it builds on {}, which was left out", file), outcome);
    }
  }
}

}  // namespace lab::grading
