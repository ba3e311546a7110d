#include "grading/marks/outcome_json.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

LabOutcome sample() {
  LabOutcome outcome;
  outcome.lab = "a9_collectives";
  outcome.isolation = "limits only";
  outcome.seed = "--seed 3";
  outcome.seconds = 1.5;
  outcome.hand_in_notes = {"missing: 'x'"};
  outcome.notes = {"it printed y"};
  outcome.evidence = {{"a4.log", "is exactly the log of a right run on 4 ranks"}};
  TaskOutcome& task = outcome.tasks["a9.ulysses"];
  task.id = "a9.ulysses";
  task.worth = Worth::kAsChecked;
  task.skipped_because = "a9.all_to_all";
  task.stand_in = "the reference in place of student/all_to_all";
  task.checks = {{"Ulysses",
                  Worth::kTooExpensive,
                  "3 calls",
                  {"gathers_everything", "everything is gathered"},
                  {1, 2, 3, 4},
                  {CaseFigures::kAny, 5},
                  R"({"ranks":2,"clocks":[],"is_cut":false})"},
                 {"UlyssesUneven", Worth::kSkipped},
                 {"UlyssesDouble", Worth::kNotJudged, "no CPU"}};
  outcome.tasks["a9.design"].id = "a9.design";
  outcome.tasks["a9.design"].worth = Worth::kNotJudged;
  return outcome;
}

TEST_CASE("an outcome is the same after a way through a file") {
  const std::string text = outcome_to_json(sample());
  const LabOutcome read = outcome_from_json(text, "outcome.json");
  CHECK(outcome_to_json(read) == text);
  const TaskOutcome& task = read.tasks.at("a9.ulysses");
  CHECK(task.worth == Worth::kAsChecked);
  CHECK(task.stand_in == "the reference in place of student/all_to_all");
  CHECK(task.checks.at(0).worth == Worth::kTooExpensive);
  CHECK(task.checks.at(0).symptom.message == "everything is gathered");
  CHECK(task.checks.at(0).used.bytes_sent == 2);
  CHECK(task.checks.at(0).limits.bytes_sent == 5);
  CHECK(task.checks.at(0).limits.model_time_ps == CaseFigures::kAny);
  CHECK(task.checks.at(0).timeline == R"({"ranks":2,"clocks":[],"is_cut":false})");
  CHECK(task.checks.at(1).timeline.empty());
  CHECK(read.hand_in_notes == sample().hand_in_notes);
  CHECK(read.notes == sample().notes);
  CHECK(task.checks.at(1).worth == Worth::kSkipped);
  CHECK(task.checks.at(2).worth == Worth::kNotJudged);
  CHECK(task.not_judged());
  CHECK(read.tasks.at("a9.design").worth == Worth::kNotJudged);
}

TEST_CASE("words that are not valid text stay in bounds") {
  LabOutcome outcome = sample();
  outcome.notes = {"\xff\xfe printed"};
  CHECK(outcome_from_json(outcome_to_json(outcome), "x").notes.size() == 1);
}

TEST_CASE("an invalid outcome is refused") {
  std::string text = outcome_to_json(sample());
  text.replace(text.find("too expensive"), 13, "too wonderful");
  CHECK_THROWS_AS(outcome_from_json(text, "x"), UsageError);
  CHECK_THROWS_AS(outcome_from_json("[]", "x"), UsageError);
  CHECK_THROWS_AS(outcome_from_json(text.substr(0, 40), "x"), UsageError);
}

}  // namespace
}  // namespace lab::grading
