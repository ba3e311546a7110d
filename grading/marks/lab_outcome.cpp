#include "grading/marks/lab_outcome.h"

#include <algorithm>

namespace lab::grading {
namespace {

/// "NAME: reason; likely: cause"
std::string with_reason(const std::string& what, const CheckOutcome& check) {
  std::string line = what;
  if (!check.reason.empty()) line += ": " + check.reason;
  if (!check.likely.empty()) line += "; likely: " + check.likely;
  return line;
}

}  // namespace

bool TaskOutcome::passed() const {
  const auto is_right = [](const CheckOutcome& check) { return check.state == CheckOutcome::State::kPassed; };
  return state == State::kJudged && std::any_of(checks.begin(), checks.end(), is_right) &&
         std::all_of(checks.begin(), checks.end(), [](const CheckOutcome& check) { return check.is_fine(); });
}

bool TaskOutcome::not_judged() const {
  return state == State::kNotJudged || std::any_of(checks.begin(), checks.end(), [](const CheckOutcome& check) {
           return check.state == CheckOutcome::State::kNotJudged;
         });
}

std::string finding_of(const CheckOutcome& check) {
  switch (check.state) {
    case CheckOutcome::State::kNotRun: return with_reason(check.name + ": not run", check);
    case CheckOutcome::State::kTooExpensive: return with_reason(check.name + ": right, but too expensive", check);
    case CheckOutcome::State::kFailed: return with_reason(check.name + (check.reason.empty() ? ": failed" : ""), check);
    case CheckOutcome::State::kNotJudged: return with_reason(check.name + ": not judged", check);
    default: return "";
  }
}

std::vector<std::string> all_notes(const LabOutcome& outcome) {
  std::vector<std::string> notes = outcome.hand_in_notes;
  notes.insert(notes.end(), outcome.notes.begin(), outcome.notes.end());
  return notes;
}

std::vector<std::string> evidence_lines(const LabOutcome& outcome) {
  std::vector<std::string> lines;
  for (const auto& [name, found] : outcome.evidence) lines.push_back(name + " " + found);
  return lines;
}

}  // namespace lab::grading
