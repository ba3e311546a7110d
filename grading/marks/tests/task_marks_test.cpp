#include "common/testing/plain_test.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::a_task;
using testing::judged;
using testing::make_outcome;
using Strings = std::vector<std::string>;

MarkedItem marked(const RubricTask& task, const std::vector<TaskOutcome>& tasks) {
  return mark_task(task, make_outcome(tasks));
}

TEST_CASE("a task: all its checks right give exactly its marks, and nothing is said") {
  const auto item = marked(a_task("a9.x", 0.7), {judged("a9.x", {Worth::kPassed, Worth::kPassed, Worth::kPassed})});
  CHECK(item.marks == 0.7);
  CHECK(item.out_of == 0.7);
  CHECK((item.worth == Worth::kPassed));
  CHECK(item.findings.empty());
}

TEST_CASE("a task: its marks are shared over its checks, and are not rounded") {
  const auto item = marked(a_task("a9.x", 5), {judged("a9.x", {Worth::kPassed, Worth::kFailed, Worth::kTooExpensive})});
  CHECK(item.marks == doctest::Approx(5.0 / 3).epsilon(1e-12));
  CHECK((item.worth == Worth::kPartly));
  CHECK(item.findings == Strings{"a9.x.Check1: on 4 ranks: expected 10, got 2.5",
                                 "a9.x.Check2: right, but too expensive", "1 of 3 checks passed"});
}

TEST_CASE("a task: all or nothing") {
  RubricTask task = a_task("a9.x", 6);
  task.all_or_nothing = true;
  const auto item = marked(task, {judged("a9.x", {Worth::kPassed, Worth::kPassed, Worth::kFailed})});
  CHECK(item.marks == 0);
  CHECK((item.worth == Worth::kFailed));
  CHECK(item.findings.back() == "2 of 3 checks passed; this task counts all or nothing");
  CHECK(marked(task, {judged("a9.x", {Worth::kPassed})}).marks == 6);
}

TEST_CASE("a task: skipped checks do not count, but some check must be right") {
  const RubricTask task = a_task("a9.x", 6);
  CHECK(marked(task, {judged("a9.x", {Worth::kSkipped, Worth::kPassed})}).marks == 6);
  CHECK(marked(task, {judged("a9.x", {Worth::kSkipped, Worth::kPassed, Worth::kFailed})}).marks == 3);
  for (const auto& none : {std::vector<Worth>{}, {Worth::kSkipped}}) {
    const auto item = marked(task, {judged("a9.x", none)});
    CHECK(item.marks == 0);
    CHECK((item.worth == Worth::kFailed));
    CHECK(item.findings == Strings{"no check could be run"});
  }
}

TEST_CASE("a task: a check that was not run counts, and gives nothing") {
  const auto item = marked(a_task("a9.x", 6), {judged("a9.x", {Worth::kPassed, Worth::kNotRun})});
  CHECK(item.marks == 3);
  CHECK(item.findings.front() == "a9.x.Check1: not run");
}

TEST_CASE("a task: not found, not run and not implemented are 0, whatever its checks say") {
  const RubricTask task = a_task("a9.x", 6);
  CHECK(marked(task, {}).marks == 0);
  CHECK(marked(task, {}).findings == Strings{"not run"});

  TaskOutcome found = judged("a9.x", {Worth::kPassed});
  found.worth = Worth::kNotRun;
  found.reason = "student/x.cpp does not compile: 'y' was not declared";
  CHECK(marked(task, {found}).marks == 0);
  CHECK(marked(task, {found}).findings == Strings{"not run: student/x.cpp does not compile: 'y' was not declared"});
  CHECK_FALSE(found.passed());

  found.worth = Worth::kNotImplemented;
  found.reason = "";
  CHECK(marked(task, {found}).marks == 0);
  CHECK(marked(task, {found}).findings == Strings{"not implemented: a TODO was reached"});
  found.reason = "TODO(a9.x) is still there";
  CHECK(marked(task, {found}).findings == Strings{"not implemented: TODO(a9.x) is still there"});
}

TEST_CASE("a task that failed after one of its needs is skipped; what passed of it counts") {
  const RubricTask task = a_task("a9.x", 6, {"a9.y", "a9.z"});
  const TaskOutcome half = judged("a9.x", {Worth::kPassed, Worth::kFailed});
  const TaskOutcome right = judged("a9.y", {Worth::kPassed});
  const TaskOutcome wrong = judged("a9.z", {Worth::kFailed});
  const auto item = marked(task, {half, right, wrong});
  CHECK((item.worth == Worth::kSkipped));
  CHECK(item.marks == 3);
  CHECK(item.findings.front() == "skipped: a9.z failed");
  // Its own fault, where all needs are right, or were not judged.
  CHECK((marked(task, {half, right}).worth == Worth::kPartly));
  // Right all the same.
  CHECK((marked(task, {judged("a9.x", {Worth::kPassed}), wrong}).worth == Worth::kPassed));
}

TEST_CASE("a task judged with a stand-in is blamed itself, unless the judge knows better") {
  const RubricTask task = a_task("a9.x", 6, {"a9.y"});
  const TaskOutcome wrong = judged("a9.y", {Worth::kFailed});
  TaskOutcome found = judged("a9.x", {Worth::kFailed});
  found.stand_in = "the reference in place of student/y, since a9.y failed";
  CHECK((marked(task, {found, wrong}).worth == Worth::kFailed));
  found.skipped_because = "a9.other";
  CHECK(marked(task, {found, wrong}).findings.front() == "skipped: a9.other failed");

  TaskOutcome right = judged("a9.x", {Worth::kPassed});
  right.stand_in = "the reference in place of student/y, since a9.y failed";
  CHECK(marked(task, {right, wrong}).marks == 6);
  CHECK(marked(task, {right, wrong}).findings ==
        Strings{"judged with the reference in place of student/y, since a9.y failed"});
}

TEST_CASE("a task that was not judged has no marks yet: its share waits for another grading") {
  const RubricTask task = a_task("a9.x", 6, {"a9.y"});
  TaskOutcome found;
  found.id = "a9.x";
  found.worth = Worth::kNotJudged;
  found.reason = "the compiler was killed for lack of memory, twice";
  const auto whole = marked(task, {found, judged("a9.y", {Worth::kFailed})});
  CHECK((whole.worth == Worth::kNotJudged));
  CHECK(whole.not_judged == 6);
  CHECK(whole.findings == Strings{"not judged: the compiler was killed for lack of memory, twice"});

  const auto partly = marked(task, {judged("a9.x", {Worth::kPassed, Worth::kFailed, Worth::kNotJudged})});
  CHECK((partly.worth == Worth::kNotJudged));
  CHECK(partly.marks == 2);
  CHECK(partly.not_judged == 2);
  CHECK(partly.findings.back() == "a9.x.Check2: not judged");
}

TEST_CASE("all or nothing: what was not judged may still be all, unless a check failed") {
  RubricTask task = a_task("a9.x", 6);
  task.all_or_nothing = true;
  const auto open = marked(task, {judged("a9.x", {Worth::kPassed, Worth::kNotJudged})});
  CHECK(open.marks == 0);
  CHECK(open.not_judged == 6);
  CHECK((open.worth == Worth::kNotJudged));
  const auto lost = marked(task, {judged("a9.x", {Worth::kFailed, Worth::kNotJudged})});
  CHECK(lost.not_judged == 0);
  CHECK((lost.worth == Worth::kFailed));
}

TEST_CASE("a task that was not run because of a need says so") {
  TaskOutcome found;
  found.id = "a9.x";
  found.skipped_because = "a9.y";
  const auto item = marked(a_task("a9.x", 6, {"a9.y"}), {found});
  CHECK((item.worth == Worth::kSkipped));
  CHECK(item.findings == Strings{"skipped: a9.y failed", "not run"});
}

}  // namespace
}  // namespace lab::grading
