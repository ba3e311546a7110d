#include "common/checks/case_verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab {
std::string CaseVerdict::missing_task() const {
  const auto rank = std::find_if(ranks.begin(), ranks.end(),
                                 [](const RankVerdict& one) { return one.end == CaseEnd::kNotImplemented; });
  return rank == ranks.end() ? "" : rank->missing_task;
}

std::string CaseVerdict::message() const {
  return symptom.message.empty() || reason.empty() ? reason : fmt::format("{}; likely: {}", reason, symptom.message);
}

bool TaskOutcome::passed() const {
  return worth == Worth::kAsChecked &&
         std::any_of(checks.begin(), checks.end(), [](const CaseVerdict& check) { return check.passed(); }) &&
         std::all_of(checks.begin(), checks.end(), [](const CaseVerdict& check) { return check.is_fine(); });
}

bool TaskOutcome::skipped() const {
  return std::all_of(checks.begin(), checks.end(), [](const CaseVerdict& check) { return check.skipped(); });
}

bool TaskOutcome::not_judged() const {
  return worth == Worth::kNotJudged || std::any_of(checks.begin(), checks.end(), [](const CaseVerdict& check) {
           return check.worth == Worth::kNotJudged;
         });
}

const CaseVerdict* TaskOutcome::find(const std::string& check) const {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const CaseVerdict& one) { return one.name == check; });
  return found == checks.end() ? nullptr : &*found;
}

}  // namespace lab
