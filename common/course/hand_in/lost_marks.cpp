#include "common/course/hand_in/lost_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace lab {
namespace {

/// "SplitLayers" of "optC.split_layers": how the names of its checks begin.
std::string begin_of_checks(const std::string& task) {
  std::string name;
  bool is_upper = true;
  for (const char c : task.substr(task.find('.') + 1)) {
    if (c != '_') name += is_upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_upper = c == '_';
  }
  return name;
}

}  // namespace

LostMarks lost_without(const Rubric& rubric, const std::set<std::string>& items) {
  LostMarks lost;
  std::set<std::string> unmet = items;
  for (const RubricTask& task : rubric.tasks) {
    if (items.count(task.id) == 0) continue;
    (task.bonus ? lost.bonus : lost.marks) += task.marks;
    for (const std::string& dependent : rubric.find_dependents(task.id)) unmet.insert(dependent);
  }
  for (const RubricManual& manual : rubric.manuals) {
    if (items.count(manual.id) != 0) (manual.bonus ? lost.bonus : lost.marks) += manual.marks;
  }
  const auto is_unmet = [&](const std::string& need) {
    return std::any_of(unmet.begin(), unmet.end(), [&](const std::string& item) {
      const std::string check = begin_of_checks(item);
      return need == item || need.compare(0, check.size(), check) == 0;
    });
  };
  const auto is_met = [&](const std::vector<std::string>& needs, const std::vector<std::string>& any_of) {
    return std::none_of(needs.begin(), needs.end(), is_unmet) &&
           (any_of.empty() || !std::all_of(any_of.begin(), any_of.end(), is_unmet));
  };
  for (const RubricLadder& ladder : rubric.ladders) {
    double reached = 0;
    for (const RubricRung& rung : ladder.rungs) {
      if (!is_met(rung.needs, rung.any_of)) break;
      reached = rung.marks;
    }
    lost.marks += ladder.total - reached;
  }
  for (const RubricBonus& bonus : rubric.bonuses) {
    if (!is_met(bonus.needs, bonus.any_of)) lost.bonus += bonus.marks;
  }
  return lost;
}

std::map<std::string, LostMarks> lost_by_each(const Rubric& rubric, const std::set<std::string>& tasks) {
  const LostMarks by_all = lost_without(rubric, tasks);
  std::map<std::string, LostMarks> lost;
  for (const std::string& task : tasks) {
    std::set<std::string> others = tasks;
    others.erase(task);
    const LostMarks alone = lost_without(rubric, {task}), by_others = lost_without(rubric, others);
    lost[task] = {std::max(alone.marks, by_all.marks - by_others.marks),
                  std::max(alone.bonus, by_all.bonus - by_others.bonus)};
  }
  return lost;
}

std::string LostMarks::text() const {
  const auto number = [](double of, const char* what) { return fmt::format("{} {}{}", of, what, of == 1 ? "" : "s"); };
  if (marks > 0 && bonus > 0) return fmt::format("up to {} and {}", number(marks, "mark"), number(bonus, "bonus mark"));
  if (marks > 0) return "up to " + number(marks, "mark");
  if (bonus > 0) return "up to " + number(bonus, "bonus mark");
  return "no marks by itself";
}

}  // namespace lab
