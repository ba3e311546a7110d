#include "grading/judge/withheld_tasks.h"

#include <utility>
#include <vector>

#include "common/testing/plain_test.h"
#include "grading/marks/lab_marks.h"

namespace lab::grading {
namespace {

using CheckState = CheckOutcome::State;
using TaskState = TaskOutcome::State;

RubricTask small_task(const std::string& id, const std::string& file, std::vector<std::string> needs = {},
                      std::vector<std::string> stand_in = {}) {
  RubricTask task;
  task.id = id;
  task.file = file;
  task.marks = 10;
  task.needs = std::move(needs);
  task.stand_in = std::move(stand_in);
  return task;
}

/// "sum" and "norm" have a file each, "choice.cpp" is next to that of "sum"; "block" needs "sum", "net" needs "block".
struct WaitingLab {
  Rubric rubric;
  LabOutcome outcome;

  WaitingLab() {
    rubric.tasks = {small_task("x.sum", "student/sums/sum.cpp"), small_task("x.norm", "student/norm.cpp"),
                    small_task("x.block", "student/block.cpp", {"x.sum"}),
                    small_task("x.net", "student/net", {"x.block"}),
                    small_task("x.other", "student/other.cpp", {}, {"student/norm.cpp"})};
    for (const RubricTask& task : rubric.tasks) set(task.id, CheckState::kPassed);
  }

  void set(const std::string& id, CheckState state) {
    TaskOutcome& task = outcome.tasks[id];
    task.id = id;
    task.state = TaskState::kJudged;
    task.checks = {{"First of " + id, CheckState::kPassed, "", ""}, {"Second of " + id, state, "wrong", ""}};
  }

  void withhold(const std::string& file) {
    const std::map<std::string, std::string> files = {{file, "needs a look: it uses open"}};
    withhold_tasks(rubric, files, outcome);
    withhold_dependents(rubric, files, outcome);
  }

  const TaskOutcome& at(const std::string& id) const { return outcome.tasks.at(id); }
};

TEST_CASE("a file that needs a look: its task is not judged, and has no marks, not even 0") {
  WaitingLab lab;
  lab.set("x.norm", CheckState::kFailed);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.norm").state == TaskState::kNotJudged);
  CHECK(lab.at("x.norm").reason == "student/norm.cpp: needs a look: it uses open");
  CHECK(lab.at("x.norm").checks.at(0).state == CheckState::kPassed);
  CHECK(lab.at("x.norm").checks.at(1).state == CheckState::kNotJudged);
  const MarkedItem item = mark_task(lab.rubric.tasks.at(1), lab.outcome);
  CHECK(item.state == MarkedItem::State::kNotJudged);
  CHECK(item.marks == 0);
  CHECK(item.not_judged == 10);
  CHECK(item.findings == std::vector<std::string>{"not judged: student/norm.cpp: needs a look: it uses open"});
}

TEST_CASE("a TODO in its place is not the student's") {
  WaitingLab lab;
  lab.outcome.tasks["x.norm"].state = TaskState::kNotImplemented;
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.norm").state == TaskState::kNotJudged);
}

TEST_CASE("what passes without the file keeps its marks, and what failed without needing it has failed") {
  WaitingLab lab;
  lab.set("x.norm", CheckState::kFailed);
  lab.set("x.sum", CheckState::kFailed);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.sum").state == TaskState::kJudged);
  CHECK(lab.at("x.sum").checks.at(1).state == CheckState::kFailed);
  CHECK(lab.at("x.block").passed());
}

TEST_CASE("tasks that build on it may have failed because of that, directly or not") {
  WaitingLab lab;
  for (const char* id : {"x.sum", "x.block", "x.net", "x.other"}) lab.set(id, CheckState::kFailed);
  lab.withhold("student/sums/sum.cpp");
  CHECK(lab.at("x.block").state == TaskState::kNotJudged);
  CHECK(lab.at("x.block").reason == "needs a look: it builds on student/sums/sum.cpp, which was left out");
  CHECK(lab.at("x.net").state == TaskState::kNotJudged);
  CHECK(lab.at("x.other").state == TaskState::kJudged);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.other").state == TaskState::kNotJudged);
}

TEST_CASE("... unless they were judged with the reference in its place") {
  WaitingLab lab;
  lab.set("x.sum", CheckState::kFailed);
  lab.set("x.block", CheckState::kFailed);
  lab.outcome.tasks["x.block"].stand_in = "the reference in place of student/sums/sum.cpp";
  lab.withhold("student/sums/sum.cpp");
  CHECK(lab.at("x.block").state == TaskState::kJudged);
}

TEST_CASE("a file in a task's folder is the task's; one that is no task's is that of its neighbours") {
  WaitingLab lab;
  lab.set("x.net", CheckState::kFailed);
  lab.set("x.sum", CheckState::kFailed);
  lab.set("x.norm", CheckState::kFailed);
  lab.withhold("student/net/layer.cpp");
  CHECK(lab.at("x.net").state == TaskState::kNotJudged);
  CHECK(lab.at("x.sum").state == TaskState::kJudged);
  lab.withhold("student/sums/choice.cpp");
  CHECK(lab.at("x.sum").state == TaskState::kNotJudged);
  CHECK(lab.at("x.norm").state == TaskState::kJudged);
}

TEST_CASE("where one task alone was judged, the others are not made up") {
  WaitingLab lab;
  lab.outcome.tasks.erase("x.norm");
  lab.withhold("student/norm.cpp");
  CHECK(lab.outcome.tasks.count("x.norm") == 0);
}

}  // namespace
}  // namespace lab::grading
