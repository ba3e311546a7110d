#include "grading/marks/shown_to_student.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace lab::grading {
namespace {

bool is_of_name(const std::string& text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

/// "a9.all" is not in "a9.allgather".
bool holds_name(const std::string& text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
    if ((at == 0 || !is_of_name(text, at - 1)) && !is_of_name(text, at + name.size())) return true;
  }
  return false;
}

}  // namespace

ShownToStudent::ShownToStudent(const LabMarks& marks, const LabOutcome& outcome) : marks_(marks) {
  std::vector<std::string> shown_names;
  for (const MarkedItem& item : marks.items) {
    const bool visible = item.visibility == Visibility::kVisible;
    if (!visible) ++num_hidden_;
    std::vector<std::string>& names = visible ? shown_names : hidden_names_;
    names.push_back(item.id);
    const auto task = outcome.tasks.find(item.id);
    if (task == outcome.tasks.end()) continue;
    for (const CaseVerdict& check : task->second.checks) names.push_back(check.name);
  }
  if (num_hidden_ == 0) return;
  const auto is_shown = [&](const std::string& name) {
    return name.empty() || std::find(shown_names.begin(), shown_names.end(), name) != shown_names.end();
  };
  hidden_names_.erase(std::remove_if(hidden_names_.begin(), hidden_names_.end(), is_shown), hidden_names_.end());

  marks_.items.clear();
  marks_.marks = marks_.total = marks_.pending = marks_.not_judged = 0;
  for (const MarkedItem& item : marks.items) {
    if (item.visibility != Visibility::kVisible) continue;
    MarkedItem& shown = marks_.items.emplace_back(item);
    shown.findings = lines(item.findings);
    marks_.marks += item.marks;
    marks_.total += item.bonus ? 0 : item.out_of;
    marks_.pending += item.pending;
    marks_.not_judged += item.not_judged;
  }
}

std::vector<std::string> ShownToStudent::lines(const std::vector<std::string>& all) const {
  std::vector<std::string> shown = all;
  std::replace_if(
      shown.begin(), shown.end(), [&](const std::string& line) { return names_hidden(line); }, kNotShownLine);
  return shown;
}

bool ShownToStudent::names_hidden(const std::string& line) const {
  return std::any_of(hidden_names_.begin(), hidden_names_.end(),
                     [&](const std::string& name) { return holds_name(line, name); });
}

}  // namespace lab::grading
