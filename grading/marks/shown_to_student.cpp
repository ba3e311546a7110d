#include "grading/marks/shown_to_student.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "common/base/text.h"

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

ShownToStudent::ShownToStudent(const LabMarks& marks, const LabOutcome& outcome) : marks_(marks), seed_(outcome.seed) {
  for (const RubricRelease& release : marks.held) {
    for (const std::string& what : release.what) {
      if (what == kReleasedSeed) {
        seed_.clear();
      } else if (!is_item(what)) {
        held_checks_.push_back(what);
      }
    }
  }
  std::vector<std::string> shown_names;
  for (const MarkedItem& item : marks.items) {
    const bool visible = item.visibility == Visibility::kVisible;
    if (!visible) ++num_hidden_;
    std::vector<std::string>& names = visible ? shown_names : hidden_names_;
    names.push_back(item.id);
    const auto task = outcome.tasks.find(item.id);
    if (task == outcome.tasks.end()) continue;
    for (const CheckOutcome& check : task->second.checks) names.push_back(check.name);
  }
  if (num_hidden_ == 0 && held_checks_.empty()) return;
  const auto is_shown = [&](const std::string& name) {
    return name.empty() || std::find(shown_names.begin(), shown_names.end(), name) != shown_names.end();
  };
  hidden_names_.erase(std::remove_if(hidden_names_.begin(), hidden_names_.end(), is_shown), hidden_names_.end());
  hidden_names_.insert(hidden_names_.end(), held_checks_.begin(), held_checks_.end());

  if (num_hidden_ == 0) {
    for (MarkedItem& item : marks_.items) item.findings = lines(item.findings);
    return;
  }
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

bool ShownToStudent::is_item(const std::string& name) const {
  return std::any_of(marks_.items.begin(), marks_.items.end(), [&](const MarkedItem& item) { return item.id == name; });
}

bool ShownToStudent::shows_check(const std::string& name) const {
  return std::find(held_checks_.begin(), held_checks_.end(), name) == held_checks_.end();
}

std::vector<std::string> ShownToStudent::lines(const std::vector<std::string>& all) const {
  std::vector<std::string> shown = all;
  std::replace_if(
      shown.begin(), shown.end(), [&](const std::string& line) { return names_hidden(line); }, kNotShownLine);
  return shown;
}

std::vector<std::string> ShownToStudent::held() const {
  std::vector<std::string> lines;
  for (const RubricRelease& release : marks_.held) {
    const auto is_of = [&](const std::vector<std::string>& names) {
      return std::count_if(release.what.begin(), release.what.end(), [&](const std::string& what) {
        return std::find(names.begin(), names.end(), what) != names.end();
      });
    };
    const auto num_seeds = is_of({kReleasedSeed}), num_checks = is_of(held_checks_);
    const auto num_items = static_cast<std::ptrdiff_t>(release.what.size()) - num_seeds - num_checks;
    std::vector<std::string> parts;
    if (num_seeds > 0) parts.emplace_back("the seed");
    if (num_items > 0) parts.push_back(counted(num_items, "item"));
    if (num_checks > 0) parts.push_back(counted(num_checks, "check"));
    lines.push_back(fmt::format("Held back until {}: {}", to_text(release.at), fmt::join(parts, ", ")));
  }
  return lines;
}

bool ShownToStudent::names_hidden(const std::string& line) const {
  return std::any_of(hidden_names_.begin(), hidden_names_.end(),
                     [&](const std::string& name) { return holds_name(line, name); });
}

}  // namespace lab::grading
