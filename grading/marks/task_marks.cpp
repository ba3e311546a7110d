#include "grading/marks/task_marks.h"

#include <fmt/format.h>

#include <string>

namespace lab::grading {
namespace {

std::string with_reason(const std::string& what, const std::string& words) {
  return words.empty() ? what : what + ": " + words;
}

/// What is said of a check that gets nothing.
std::string words_of(const CheckOutcome& check) {
  switch (check.state) {
    case CheckOutcome::State::kNotRun: return with_reason(check.name + ": not run", check.words);
    case CheckOutcome::State::kTooExpensive: return with_reason(check.name + ": right, but too expensive", check.words);
    case CheckOutcome::State::kFailed: return with_reason(check.name, check.words.empty() ? "failed" : check.words);
    case CheckOutcome::State::kNotJudged: return with_reason(check.name + ": not judged", check.words);
    default: return "";
  }
}

/// The need to blame; empty: the task itself. With a need's stand-in, only the judge can know of another one.
std::string need_to_blame(const RubricTask& task, const TaskOutcome& found, const LabOutcome& outcome) {
  if (!found.skipped_because.empty()) return found.skipped_because;
  if (found.state != TaskOutcome::State::kJudged || !found.stand_in.empty()) return "";
  for (const std::string& need : task.needs) {
    const auto it = outcome.tasks.find(need);
    if (it != outcome.tasks.end() && !it->second.passed()) return need;
  }
  return "";
}

/// Marks and state by the checks, with the words of those that failed.
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
    // All or nothing: nothing, if a check failed, whatever the others would have been.
    const bool lost = task.all_or_nothing && num_passed + num_not_judged < num_counted;
    const int num_waiting = task.all_or_nothing ? num_counted : num_not_judged;
    item.not_judged = lost ? 0 : task.marks * num_waiting / num_counted;
    item.marks = task.all_or_nothing ? 0 : task.marks * num_passed / num_counted;
    if (!lost) item.state = MarkedItem::State::kNotJudged;
    return;
  }
  if (num_counted == 0) item.words.emplace_back("not one check could be run");
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

}  // namespace lab::grading
