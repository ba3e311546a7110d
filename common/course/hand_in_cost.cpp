#include "common/course/hand_in_cost.h"

#include <fmt/format.h>

#include "common/course/rubric_check.h"

namespace lab {

std::string cost_of(const Rubric& lab, const std::string& file) {
  double marks = 0, bonus = 0;
  bool in_ladder = false;
  const auto add = [&](double of_item, bool is_bonus) {
    (is_bonus ? bonus : marks) += of_item;
    in_ladder = in_ladder || (of_item == 0 && !lab.ladders.empty());
  };
  for (const RubricTask& task : lab.tasks) {
    if (is_below_one_of(file, {task.file})) add(task.marks, task.bonus);
  }
  for (const RubricManual& manual : lab.manuals) {
    if (manual.file == file) add(manual.marks, false);
  }
  if (marks > 0 && bonus > 0) return fmt::format("costs up to {} marks and {} bonus marks", marks, bonus);
  if (marks > 0) return fmt::format("costs up to {} marks", marks);
  if (bonus > 0) return fmt::format("costs up to {} bonus marks", bonus);
  return in_ladder ? "costs the rungs of a ladder that ask for it" : "costs no marks by itself";
}

}  // namespace lab
