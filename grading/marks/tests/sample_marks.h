#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

// Small rubrics and outcomes for the tests of this folder.
namespace lab::grading::testing {

inline RubricTask a_task(const std::string& id, double marks, std::vector<std::string> needs = {}) {
  RubricTask task;
  task.id = id;
  task.title = "Title of " + id;
  task.marks = marks;
  task.needs = std::move(needs);
  return task;
}

inline RubricManual a_manual(const std::string& id, double marks, const std::string& file) {
  RubricManual manual;
  manual.id = id;
  manual.title = "Title of " + id;
  manual.file = file;
  manual.marks = marks;
  manual.look_for = "what the grader\nlooks for";
  return manual;
}

/// A judged task whose checks, named after it, have these states.
inline TaskOutcome judged(const std::string& id, const std::vector<Worth>& states) {
  TaskOutcome outcome;
  outcome.id = id;
  outcome.worth = Worth::kAsChecked;
  for (std::size_t i = 0; i < states.size(); ++i) {
    CaseVerdict check;
    check.name = id + ".Check" + std::to_string(i);
    check.worth = states[i];
    if (states[i] == Worth::kFailed) check.reason = "on 4 ranks: expected 10, got 2.5";
    outcome.checks.push_back(check);
  }
  return outcome;
}

inline LabOutcome make_outcome(const std::vector<TaskOutcome>& tasks) {
  LabOutcome outcome;
  outcome.lab = "a9_collectives";
  for (const TaskOutcome& task : tasks) outcome.tasks[task.id] = task;
  return outcome;
}

inline const MarkedItem& item_named(const LabMarks& marks, const std::string& id) {
  for (const MarkedItem& item : marks.items) {
    if (item.id == id) return item;
  }
  throw std::runtime_error("there is no item " + id);
}

}  // namespace lab::grading::testing
