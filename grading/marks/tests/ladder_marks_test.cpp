#include "common/testing/plain_test.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::judged;
using Strings = std::vector<std::string>;

/// A small version of Option C's first ladder.
RubricLadder a_ladder() {
  RubricLadder ladder;
  ladder.id = "c.pipeline";
  ladder.title = "Pipeline";
  ladder.total = 5;
  ladder.rungs = {{1, "Two stages", {"c.stage", "OneMicroBatch"}, {}},
                  {3, "Micro-batches", {}, {"c.gpipe", "c.other"}},
                  {5, "The curves", {"c.training", "c.report"}, {}}};
  return ladder;
}

MarkedItem report(Worth worth) {
  MarkedItem item;
  item.id = "c.report";
  item.kind = MarkedItem::Kind::kManual;
  item.worth = worth;
  return item;
}

/// The ladder if these tasks are right, with the report in this state.
MarkedItem climbed(const std::vector<std::string>& right, Worth single_check, Worth report_state) {
  LabOutcome outcome;
  for (const std::string& id : right) outcome.tasks[id] = judged(id, {Worth::kPassed});
  // A task whose checks are not all right, one of which a rung asks for.
  TaskOutcome half = judged("c.half", {single_check, Worth::kFailed});
  half.checks[0].name = "OneMicroBatch";
  outcome.tasks["c.half"] = half;
  return mark_ladder(a_ladder(), Needs(outcome, {report(report_state)}));
}

TEST_CASE("a ladder: the highest rung counts, and rungs are not added up") {
  const auto item = climbed({"c.stage", "c.gpipe", "c.training"}, Worth::kPassed, Worth::kPassed);
  CHECK(item.marks == 5);
  CHECK(item.out_of == 5);
  CHECK((item.worth == Worth::kPassed));
  CHECK(item.findings == Strings{"reached: 'The curves', 5 of 5"});
}

TEST_CASE("a ladder: a rung counts only above those below it") {
  const auto item = climbed({"c.gpipe", "c.training"}, Worth::kPassed, Worth::kPassed);
  CHECK(item.marks == 0);
  CHECK((item.worth == Worth::kFailed));
  CHECK(item.findings == Strings{"no rung is reached", "the next rung, 'Two stages', lacks c.stage"});
}

TEST_CASE("a ladder: a need may be a single check, which must be right itself") {
  CHECK(climbed({"c.stage"}, Worth::kPassed, Worth::kPending).marks == 1);
  for (const Worth wrong : {Worth::kFailed, Worth::kTooExpensive, Worth::kSkipped})
    CHECK(climbed({"c.stage"}, wrong, Worth::kPending).marks == 0);
}

TEST_CASE("a ladder: one of several is enough where the rung says so") {
  CHECK(climbed({"c.stage", "c.other"}, Worth::kPassed, Worth::kFailed).marks == 3);
  const auto item = climbed({"c.stage"}, Worth::kPassed, Worth::kFailed);
  CHECK(item.marks == 1);
  CHECK((item.worth == Worth::kPartly));
  CHECK(item.findings.back() == "the next rung, 'Micro-batches', lacks one of c.gpipe, c.other");
}

TEST_CASE("a ladder: a rung that only waits for a person is pending") {
  const auto item = climbed({"c.stage", "c.gpipe", "c.training"}, Worth::kPassed, Worth::kPending);
  CHECK(item.marks == 3);
  CHECK(item.pending == 2);
  CHECK((item.worth == Worth::kPending));
  CHECK(item.findings.back() == "the next rung, 'The curves', waits for c.report");
  // Not if something else is missing as well.
  const auto without = climbed({"c.stage", "c.gpipe"}, Worth::kPassed, Worth::kPending);
  CHECK(without.pending == 0);
  CHECK((without.worth == Worth::kPartly));
  CHECK(without.findings.back() == "the next rung, 'The curves', lacks c.training");
}

TEST_CASE("a ladder: what waits below is pending up to the highest rung that nothing else keeps it from") {
  RubricLadder ladder = a_ladder();
  ladder.rungs[1].needs = {"c.report"};
  ladder.rungs[1].any_of = {};
  ladder.rungs[2].needs = {"c.training"};
  LabOutcome outcome;
  for (const char* id : {"c.stage", "c.training"}) outcome.tasks[id] = judged(id, {Worth::kPassed});
  outcome.tasks["c.stage"].checks[0].name = "OneMicroBatch";
  const auto item = mark_ladder(ladder, Needs(outcome, {report(Worth::kPending)}));
  CHECK(item.marks == 1);
  CHECK(item.pending == 4);
}

TEST_CASE("a ladder: a rung that was not judged is neither reached nor lost") {
  LabOutcome outcome;
  for (const char* id : {"c.stage", "c.training"}) outcome.tasks[id] = judged(id, {Worth::kPassed});
  outcome.tasks["c.stage"].checks[0].name = "OneMicroBatch";
  outcome.tasks["c.gpipe"] = judged("c.gpipe", {Worth::kPassed, Worth::kNotJudged});
  const auto item = mark_ladder(a_ladder(), Needs(outcome, {report(Worth::kPending)}));
  CHECK(item.marks == 1);
  CHECK(item.not_judged == 4);
  CHECK(item.pending == 0);
  CHECK((item.worth == Worth::kNotJudged));
  CHECK(item.findings.back() == "the next rung, 'Micro-batches': not judged: one of c.gpipe, c.other");
  // A check that failed has decided it.
  outcome.tasks["c.gpipe"] = judged("c.gpipe", {Worth::kFailed, Worth::kNotJudged});
  CHECK(mark_ladder(a_ladder(), Needs(outcome, {report(Worth::kPending)})).not_judged == 0);

  const auto bonus = mark_bonus({"c.bonus", "Bonus", 2, {"c.stage", "c.other"}, {}}, [&] {
    outcome.tasks["c.other"] = judged("c.other", {Worth::kNotJudged});
    return Needs(outcome, {});
  }());
  CHECK(bonus.marks == 0);
  CHECK(bonus.not_judged == 2);
  CHECK((bonus.worth == Worth::kNotJudged));
}

TEST_CASE("a bonus: all of its needs, or one of any_of, or nothing") {
  LabOutcome outcome;
  outcome.tasks["c.a"] = judged("c.a", {Worth::kPassed});
  outcome.tasks["c.b"] = judged("c.b", {Worth::kFailed});
  const Needs needs(outcome, {report(Worth::kPending)});
  const auto bonus = [&](const std::vector<std::string>& all, const std::vector<std::string>& any) {
    return mark_bonus({"c.bonus", "Bonus", 2, all, any}, needs);
  };
  CHECK(bonus({"c.a"}, {}).marks == 2);
  CHECK(bonus({"c.a"}, {}).bonus);
  CHECK(bonus({"c.a", "c.b"}, {}).marks == 0);
  CHECK(bonus({"c.a", "c.b"}, {}).findings == Strings{"lacks c.b"});
  CHECK(bonus({}, {"c.b", "c.a"}).marks == 2);
  CHECK(bonus({}, {"c.b", "c.nothing"}).findings == Strings{"lacks one of c.b, c.nothing"});
  CHECK(bonus({"c.a", "c.report"}, {}).pending == 2);
  CHECK(bonus({"c.a", "c.report"}, {}).marks == 0);
  CHECK(bonus({"c.b", "c.report"}, {}).pending == 0);
}

}  // namespace
}  // namespace lab::grading
