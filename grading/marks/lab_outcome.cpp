#include "grading/marks/lab_outcome.h"

namespace lab::grading {
namespace {

/// "NAME: reason; likely: cause"
std::string with_reason(const std::string& what, const CaseVerdict& check) {
  std::string line = what;
  if (!check.reason.empty()) line += ": " + check.reason;
  if (!check.symptom.message.empty()) line += "; likely: " + check.symptom.message;
  return line;
}

}  // namespace

std::string describe_finding(const CaseVerdict& check) {
  switch (check.worth) {
    case Worth::kNotRun: return with_reason(check.name + ": not run", check);
    case Worth::kTooExpensive: return with_reason(check.name + ": right, but too expensive", check);
    case Worth::kFailed: return with_reason(check.name + (check.reason.empty() ? ": failed" : ""), check);
    case Worth::kNotJudged: return with_reason(check.name + ": not judged", check);
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
