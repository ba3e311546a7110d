#include "grading/marks/lab_marks.h"

#include <algorithm>
#include <iterator>

#include "grading/marks/ladder_marks.h"
#include "grading/marks/manual_item.h"
#include "grading/marks/needs.h"
#include "grading/marks/task_marks.h"

namespace lab::grading {

LabMarks marks_of(const Rubric& rubric, const LabOutcome& outcome, const std::vector<ManualMark>& by_hand) {
  std::vector<MarkedItem> manual_items;
  for (const RubricManual& manual : rubric.manuals)
    manual_items.push_back(mark_manual(rubric, manual, outcome, by_hand));
  const Needs needs(outcome, manual_items);

  LabMarks marks;
  marks.lab = rubric.lab;
  marks.title = rubric.title;
  marks.total = rubric.total;
  for (const RubricLadder& ladder : rubric.ladders) marks.items.push_back(mark_ladder(ladder, needs));
  for (const RubricBonus& bonus : rubric.bonuses) marks.items.push_back(mark_bonus(bonus, needs));
  for (const RubricTask& task : rubric.tasks) marks.items.push_back(mark_task(task, outcome));
  std::move(manual_items.begin(), manual_items.end(), std::back_inserter(marks.items));
  for (const MarkedItem& item : marks.items) {
    marks.marks += item.marks;
    marks.pending += item.pending;
    marks.not_judged += item.not_judged;
  }
  return marks;
}

}  // namespace lab::grading
