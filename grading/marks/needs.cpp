#include "grading/marks/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lab::grading {
namespace {

NeedState state_of_manual(const MarkedItem& item) {
  if (item.state == MarkedItem::State::kPassed) return NeedState::kMet;
  return item.state == MarkedItem::State::kPending ? NeedState::kPending : NeedState::kUnmet;
}

NeedState state_of_check(const CheckOutcome& check) {
  if (check.state == CheckOutcome::State::kPassed) return NeedState::kMet;
  return check.state == CheckOutcome::State::kNotJudged ? NeedState::kNotJudged : NeedState::kUnmet;
}

NeedState state_of_task(const TaskOutcome& task) {
  if (task.passed()) return NeedState::kMet;
  const bool failed = std::any_of(task.checks.begin(), task.checks.end(), [](const CheckOutcome& check) {
    return check.state != CheckOutcome::State::kSkipped && state_of_check(check) == NeedState::kUnmet;
  });
  return task.not_judged() && !failed ? NeedState::kNotJudged : NeedState::kUnmet;
}

}  // namespace

Needs::Needs(const LabOutcome& outcome, const std::vector<MarkedItem>& manual_items) {
  for (const auto& [id, task] : outcome.tasks) {
    states_[id] = state_of_task(task);
    for (const CheckOutcome& check : task.checks) states_[check.name] = state_of_check(check);
  }
  for (const MarkedItem& item : manual_items) states_[item.id] = state_of_manual(item);
}

NeedState Needs::state_of(const std::string& need) const {
  const auto it = states_.find(need);
  return it == states_.end() ? NeedState::kUnmet : it->second;
}

NeedState Needs::one_of(const std::vector<std::string>& any_of) const {
  if (any_of.empty()) return NeedState::kMet;
  NeedState best = NeedState::kUnmet;
  for (const std::string& need : any_of) best = std::max(best, state_of(need));
  return best;
}

NeedState Needs::state_of(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const {
  NeedState worst = one_of(any_of);
  for (const std::string& need : needs) worst = std::min(worst, state_of(need));
  return worst;
}

std::string Needs::lacking(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const {
  std::vector<std::string> in_the_way;
  const NeedState worst = state_of(needs, any_of);
  for (const std::string& need : needs) {
    if (state_of(need) == worst && worst != NeedState::kMet) in_the_way.push_back(need);
  }
  if (one_of(any_of) == worst && worst != NeedState::kMet)
    in_the_way.push_back(fmt::format("one of {}", fmt::join(any_of, ", ")));
  return fmt::format("{}", fmt::join(in_the_way, ", "));
}

}  // namespace lab::grading
