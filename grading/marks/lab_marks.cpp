#include "grading/marks/lab_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "grading/marks/manual_marks.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

Worth state_of_manual(const MarkedItem& item) {
  if (item.worth == Worth::kPassed) return Worth::kPassed;
  return item.worth == Worth::kPending ? Worth::kPending : Worth::kFailed;
}

Worth state_of_check(const CaseVerdict& check) {
  if (check.worth == Worth::kPassed) return Worth::kPassed;
  return check.worth == Worth::kNotJudged ? Worth::kNotJudged : Worth::kFailed;
}

Worth state_of_task(const TaskOutcome& task) {
  if (task.passed()) return Worth::kPassed;
  const bool failed = std::any_of(task.checks.begin(), task.checks.end(), [](const CaseVerdict& check) {
    return check.worth != Worth::kSkipped && state_of_check(check) == Worth::kFailed;
  });
  return task.not_judged() && !failed ? Worth::kNotJudged : Worth::kFailed;
}

std::string with_reason(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : what + ": " + reason;
}

/// The need to blame; empty: the task itself. With a stand-in, only the judge can name one (skipped_because).
std::string need_to_blame(const RubricTask& task, const TaskOutcome& found, const LabOutcome& outcome) {
  if (!found.skipped_because.empty()) return found.skipped_because;
  if (found.worth != Worth::kAsChecked || !found.stand_in.empty()) return "";
  for (const std::string& need : task.needs) {
    const auto it = outcome.tasks.find(need);
    if (it != outcome.tasks.end() && !it->second.passed()) return need;
  }
  return "";
}

/// Marks and state by the checks, with the reasons of those that failed.
void mark_checks(const RubricTask& task, const TaskOutcome& found, MarkedItem& item) {
  int num_passed = 0, num_counted = 0, num_not_judged = 0;
  for (const CaseVerdict& check : found.checks) {
    if (check.worth == Worth::kSkipped) continue;
    ++num_counted;
    if (check.worth == Worth::kPassed) ++num_passed;
    if (check.worth == Worth::kNotJudged) ++num_not_judged;
    if (std::string finding = describe_finding(check); !finding.empty()) item.findings.push_back(std::move(finding));
  }
  if (found.passed()) {
    item.marks = task.marks;
    item.worth = Worth::kPassed;
    return;
  }
  if (num_not_judged > 0) {
    // All or nothing: one failed check decides, whatever the others are.
    const bool lost = task.all_or_nothing && num_passed + num_not_judged < num_counted;
    const int num_waiting = task.all_or_nothing ? num_counted : num_not_judged;
    item.not_judged = lost ? 0 : task.marks * num_waiting / num_counted;
    item.marks = task.all_or_nothing ? 0 : task.marks * num_passed / num_counted;
    if (!lost) item.worth = Worth::kNotJudged;
    return;
  }
  if (num_counted == 0) item.findings.emplace_back("no check could be run");
  if (num_passed == 0) return;
  if (task.all_or_nothing) {
    item.findings.push_back(
        fmt::format("{} of {} checks passed; this task counts all or nothing", num_passed, num_counted));
    return;
  }
  item.findings.push_back(fmt::format("{} of {} checks passed", num_passed, num_counted));
  item.marks = task.marks * num_passed / num_counted;
  item.worth = Worth::kPartly;
}

std::string said_of_next(const RubricRung& rung, Worth state, const Needs& needs) {
  const std::string lacking = needs.lacking(rung.needs, rung.any_of);
  if (state == Worth::kNotJudged) return fmt::format("the next rung, '{}': not judged: {}", rung.title, lacking);
  return fmt::format("the next rung, '{}', {} {}", rung.title, state == Worth::kPending ? "waits for" : "lacks",
                     lacking);
}

}  // namespace

Needs::Needs(const LabOutcome& outcome, const std::vector<MarkedItem>& manual_items) {
  for (const auto& [id, task] : outcome.tasks) {
    states_[id] = state_of_task(task);
    for (const CaseVerdict& check : task.checks) states_[check.name] = state_of_check(check);
  }
  for (const MarkedItem& item : manual_items) states_[item.id] = state_of_manual(item);
}

Worth Needs::find_state(const std::string& need) const {
  const auto it = states_.find(need);
  return it == states_.end() ? Worth::kFailed : it->second;
}

Worth Needs::find_one(const std::vector<std::string>& any_of) const {
  if (any_of.empty()) return Worth::kPassed;
  Worth best = Worth::kFailed;
  for (const std::string& need : any_of) best = std::max(best, find_state(need));
  return best;
}

Worth Needs::find_state(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const {
  Worth worst = find_one(any_of);
  for (const std::string& need : needs) worst = std::min(worst, find_state(need));
  return worst;
}

std::string Needs::lacking(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const {
  std::vector<std::string> in_the_way;
  const Worth worst = find_state(needs, any_of);
  for (const std::string& need : needs) {
    if (find_state(need) == worst && worst != Worth::kPassed) in_the_way.push_back(need);
  }
  if (find_one(any_of) == worst && worst != Worth::kPassed)
    in_the_way.push_back(fmt::format("one of {}", fmt::join(any_of, ", ")));
  return fmt::format("{}", fmt::join(in_the_way, ", "));
}

MarkedItem mark_task(const RubricTask& task, const LabOutcome& outcome) {
  MarkedItem item;
  item.id = task.id;
  item.title = task.title;
  item.out_of = task.marks;
  item.bonus = task.bonus;
  item.visibility = task.visibility;
  const auto it = outcome.tasks.find(task.id);
  const TaskOutcome found = it == outcome.tasks.end() ? TaskOutcome{} : it->second;
  switch (found.worth) {
    case Worth::kNotRun: item.findings.push_back(with_reason("not run", found.reason)); break;
    case Worth::kNotImplemented:
      item.findings.push_back("not implemented: " + (found.reason.empty() ? "a TODO was reached" : found.reason));
      break;
    case Worth::kNotJudged:
      item.findings.push_back(with_reason("not judged", found.reason));
      item.not_judged = task.marks;
      item.worth = Worth::kNotJudged;
      return item;
    default:
      if (!found.reason.empty()) item.findings.push_back(found.reason);
      mark_checks(task, found, item);
  }
  if (!found.stand_in.empty()) item.findings.push_back("judged with " + found.stand_in);
  if (item.worth == Worth::kPassed || item.worth == Worth::kNotJudged) return item;
  if (const std::string need = need_to_blame(task, found, outcome); !need.empty()) {
    item.worth = Worth::kSkipped;
    item.findings.insert(item.findings.begin(), fmt::format("skipped: {} failed", need));
  }
  return item;
}

MarkedItem mark_ladder(const RubricLadder& ladder, const Needs& needs) {
  MarkedItem item;
  item.id = ladder.id;
  item.title = ladder.title;
  item.kind = MarkedItem::Kind::kLadder;
  item.out_of = ladder.total;
  item.visibility = ladder.visibility;

  const auto find_state = [&](std::size_t rung) {
    return needs.find_state(ladder.rungs[rung].needs, ladder.rungs[rung].any_of);
  };
  std::size_t num_met = 0;
  while (num_met < ladder.rungs.size() && find_state(num_met) == Worth::kPassed) ++num_met;
  if (num_met == 0) {
    item.findings.emplace_back("no rung is reached");
  } else {
    const RubricRung& reached = ladder.rungs[num_met - 1];
    item.marks = reached.marks;
    item.findings.push_back(
        fmt::format("reached: '{}', {} of {}", reached.title, shown_marks(reached.marks), shown_marks(ladder.total)));
  }
  if (num_met == ladder.rungs.size()) {
    item.worth = Worth::kPassed;
    return item;
  }
  item.findings.push_back(said_of_next(ladder.rungs[num_met], find_state(num_met), needs));
  // What a person, or from the first rung that was not judged another grading, could raise it to.
  bool waits_for_grading = false;
  for (std::size_t rung = num_met; rung < ladder.rungs.size() && find_state(rung) != Worth::kFailed; ++rung) {
    waits_for_grading = waits_for_grading || find_state(rung) == Worth::kNotJudged;
    const double more = ladder.rungs[rung].marks - item.marks;
    (waits_for_grading ? item.not_judged : item.pending) = waits_for_grading ? more - item.pending : more;
  }
  item.worth = item.not_judged > 0 ? Worth::kNotJudged
               : item.pending > 0  ? Worth::kPending
               : item.marks > 0    ? Worth::kPartly
                                   : Worth::kFailed;
  return item;
}

MarkedItem mark_bonus(const RubricBonus& bonus, const Needs& needs) {
  MarkedItem item;
  item.id = bonus.id;
  item.title = bonus.title;
  item.kind = MarkedItem::Kind::kBonus;
  item.out_of = bonus.marks;
  item.visibility = bonus.visibility;
  item.bonus = true;
  switch (needs.find_state(bonus.needs, bonus.any_of)) {
    case Worth::kPassed:
      item.worth = Worth::kPassed;
      item.marks = bonus.marks;
      break;
    case Worth::kPending:
      item.worth = Worth::kPending;
      item.pending = bonus.marks;
      item.findings.push_back("waits for " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    case Worth::kNotJudged:
      item.worth = Worth::kNotJudged;
      item.not_judged = bonus.marks;
      item.findings.push_back("not judged: " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    default: item.worth = Worth::kFailed; item.findings.push_back("lacks " + needs.lacking(bonus.needs, bonus.any_of));
  }
  return item;
}

LabMarks compute_marks(const Rubric& rubric, const LabOutcome& outcome, const std::vector<ManualMark>& by_hand) {
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
