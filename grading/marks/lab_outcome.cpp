#include "grading/marks/lab_outcome.h"

#include <algorithm>

namespace lab::grading {

bool TaskOutcome::passed() const {
  const auto is_right = [](const CheckOutcome& check) { return check.state == CheckOutcome::State::kPassed; };
  const auto is_fine = [&](const CheckOutcome& check) {
    return is_right(check) || check.state == CheckOutcome::State::kSkipped;
  };
  return state == State::kJudged && std::any_of(checks.begin(), checks.end(), is_right) &&
         std::all_of(checks.begin(), checks.end(), is_fine);
}

bool TaskOutcome::not_judged() const {
  return state == State::kNotJudged || std::any_of(checks.begin(), checks.end(), [](const CheckOutcome& check) {
           return check.state == CheckOutcome::State::kNotJudged;
         });
}

std::vector<std::string> evidence_lines(const LabOutcome& outcome) {
  std::vector<std::string> lines;
  for (const auto& [name, found] : outcome.evidence) lines.push_back(name + " " + found);
  return lines;
}

}  // namespace lab::grading
