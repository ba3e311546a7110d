#include "grading/marks/lab_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "grading/marks/manual_item.h"
#include "grading/marks/needs.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

std::string with_reason(const std::string& what, const std::string& words) {
  return words.empty() ? what : what + ": " + words;
}

/// The line for a check that earns nothing.
std::string words_of(const CheckOutcome& check) {
  switch (check.state) {
    case CheckOutcome::State::kNotRun: return with_reason(check.name + ": not run", check.words);
    case CheckOutcome::State::kTooExpensive: return with_reason(check.name + ": right, but too expensive", check.words);
    case CheckOutcome::State::kFailed: return with_reason(check.name, check.words.empty() ? "failed" : check.words);
    case CheckOutcome::State::kNotJudged: return with_reason(check.name + ": not judged", check.words);
    default: return "";
  }
}

/// The need to blame; empty: the task itself. With a stand-in, only the judge can name one (skipped_because).
std::string need_to_blame(const RubricTask& task, const TaskOutcome& found, const LabOutcome& outcome) {
  if (!found.skipped_because.empty()) return found.skipped_because;
  if (found.state != TaskOutcome::State::kJudged || !found.stand_in.empty()) return "";
  for (const std::string& need : task.needs) {
    const auto it = outcome.tasks.find(need);
    if (it != outcome.tasks.end() && !it->second.passed()) return need;
  }
  return "";
}

/// Marks and state by the checks, with the reasons of those that failed.
void mark_checks(const RubricTask& task, const TaskOutcome& found, MarkedItem& item) {
  int num_passed = 0, num_counted = 0, num_not_judged = 0;
  for (const CheckOutcome& check : found.checks) {
    if (check.state == CheckOutcome::State::kSkipped) continue;
    ++num_counted;
    if (check.state == CheckOutcome::State::kPassed) ++num_passed;
    if (check.state == CheckOutcome::State::kNotJudged) ++num_not_judged;
    if (std::string words = words_of(check); !words.empty()) item.words.push_back(std::move(words));
  }
  if (found.passed()) {
    item.marks = task.marks;
    item.state = MarkedItem::State::kPassed;
    return;
  }
  if (num_not_judged > 0) {
    // All or nothing: one failed check decides, whatever the others are.
    const bool lost = task.all_or_nothing && num_passed + num_not_judged < num_counted;
    const int num_waiting = task.all_or_nothing ? num_counted : num_not_judged;
    item.not_judged = lost ? 0 : task.marks * num_waiting / num_counted;
    item.marks = task.all_or_nothing ? 0 : task.marks * num_passed / num_counted;
    if (!lost) item.state = MarkedItem::State::kNotJudged;
    return;
  }
  if (num_counted == 0) item.words.emplace_back("no check could be run");
  if (num_passed == 0) return;
  if (task.all_or_nothing) {
    item.words.push_back(
        fmt::format("{} of {} checks passed; this task counts all or nothing", num_passed, num_counted));
    return;
  }
  item.words.push_back(fmt::format("{} of {} checks passed", num_passed, num_counted));
  item.marks = task.marks * num_passed / num_counted;
  item.state = MarkedItem::State::kPartly;
}

std::string said_of_next(const RubricRung& rung, NeedState state, const Needs& needs) {
  const std::string lacking = needs.lacking(rung.needs, rung.any_of);
  if (state == NeedState::kNotJudged) return fmt::format("the next rung, '{}': not judged: {}", rung.title, lacking);
  return fmt::format("the next rung, '{}', {} {}", rung.title, state == NeedState::kPending ? "waits for" : "lacks",
                     lacking);
}

}  // namespace

MarkedItem mark_task(const RubricTask& task, const LabOutcome& outcome) {
  MarkedItem item;
  item.id = task.id;
  item.title = task.title;
  item.out_of = task.marks;
  item.bonus = task.bonus;
  const auto it = outcome.tasks.find(task.id);
  const TaskOutcome found = it == outcome.tasks.end() ? TaskOutcome{} : it->second;
  switch (found.state) {
    case TaskOutcome::State::kNotRun: item.words.push_back(with_reason("not run", found.words)); break;
    case TaskOutcome::State::kNotImplemented:
      item.words.push_back("not implemented: " + (found.words.empty() ? "a TODO was reached" : found.words));
      break;
    case TaskOutcome::State::kNotJudged:
      item.words.push_back(with_reason("not judged", found.words));
      item.not_judged = task.marks;
      item.state = MarkedItem::State::kNotJudged;
      return item;
    case TaskOutcome::State::kJudged:
      if (!found.words.empty()) item.words.push_back(found.words);
      mark_checks(task, found, item);
  }
  if (!found.stand_in.empty()) item.words.push_back("judged with " + found.stand_in);
  if (item.state == MarkedItem::State::kPassed || item.state == MarkedItem::State::kNotJudged) return item;
  if (const std::string need = need_to_blame(task, found, outcome); !need.empty()) {
    item.state = MarkedItem::State::kSkipped;
    item.words.insert(item.words.begin(), fmt::format("skipped: {} failed", need));
  }
  return item;
}

MarkedItem mark_ladder(const RubricLadder& ladder, const Needs& needs) {
  MarkedItem item;
  item.id = ladder.id;
  item.title = ladder.title;
  item.kind = MarkedItem::Kind::kLadder;
  item.out_of = ladder.total;

  const auto state_of = [&](std::size_t rung) {
    return needs.state_of(ladder.rungs[rung].needs, ladder.rungs[rung].any_of);
  };
  std::size_t num_met = 0;
  while (num_met < ladder.rungs.size() && state_of(num_met) == NeedState::kMet) ++num_met;
  if (num_met == 0) {
    item.words.emplace_back("no rung is reached");
  } else {
    const RubricRung& reached = ladder.rungs[num_met - 1];
    item.marks = reached.marks;
    item.words.push_back(
        fmt::format("reached: '{}', {} of {}", reached.title, shown_marks(reached.marks), shown_marks(ladder.total)));
  }
  if (num_met == ladder.rungs.size()) {
    item.state = MarkedItem::State::kPassed;
    return item;
  }
  item.words.push_back(said_of_next(ladder.rungs[num_met], state_of(num_met), needs));
  // What a person, or from the first rung that was not judged another grading, could raise it to.
  bool waits_for_grading = false;
  for (std::size_t rung = num_met; rung < ladder.rungs.size() && state_of(rung) != NeedState::kUnmet; ++rung) {
    waits_for_grading = waits_for_grading || state_of(rung) == NeedState::kNotJudged;
    const double more = ladder.rungs[rung].marks - item.marks;
    (waits_for_grading ? item.not_judged : item.pending) = waits_for_grading ? more - item.pending : more;
  }
  item.state = item.not_judged > 0 ? MarkedItem::State::kNotJudged
               : item.pending > 0  ? MarkedItem::State::kPending
               : item.marks > 0    ? MarkedItem::State::kPartly
                                   : MarkedItem::State::kFailed;
  return item;
}

MarkedItem mark_bonus(const RubricBonus& bonus, const Needs& needs) {
  MarkedItem item;
  item.id = bonus.id;
  item.title = bonus.title;
  item.kind = MarkedItem::Kind::kBonus;
  item.out_of = bonus.marks;
  item.bonus = true;
  switch (needs.state_of(bonus.needs, bonus.any_of)) {
    case NeedState::kMet:
      item.state = MarkedItem::State::kPassed;
      item.marks = bonus.marks;
      break;
    case NeedState::kPending:
      item.state = MarkedItem::State::kPending;
      item.pending = bonus.marks;
      item.words.push_back("waits for " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    case NeedState::kNotJudged:
      item.state = MarkedItem::State::kNotJudged;
      item.not_judged = bonus.marks;
      item.words.push_back("not judged: " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    case NeedState::kUnmet:
      item.state = MarkedItem::State::kFailed;
      item.words.push_back("lacks " + needs.lacking(bonus.needs, bonus.any_of));
  }
  return item;
}

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
