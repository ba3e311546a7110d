#include "grading/solutions/solution_verdict.h"

#include "common/testing/test.h"

namespace lab::grading {
namespace {

/// Three tasks: b builds on a, c on nothing.
Rubric rubric_of_three() {
  Rubric rubric;
  for (const char* id : {"x.a", "x.b", "x.c"}) {
    RubricTask task;
    task.id = id;
    rubric.tasks.push_back(task);
  }
  rubric.tasks[1].needs = {"x.a"};
  return rubric;
}

/// An outcome in which these tasks failed, each with the symptom.
LabOutcome with_failed(const std::vector<std::string>& failed, const std::string& symptom = "") {
  LabOutcome outcome;
  for (const char* id : {"x.a", "x.b", "x.c"}) {
    TaskOutcome& task = outcome.tasks[id];
    task.id = id;
    task.worth = Worth::kAsChecked;
    task.checks = {{"Check", Worth::kPassed}};
    for (const std::string& one : failed) {
      if (one == id) task.checks[0] = {"Check", Worth::kFailed, "wrong", {symptom}};
    }
  }
  return outcome;
}

Solution find_solution(const std::string& task, const std::string& symptom = "") {
  Solution solution;
  solution.name = "x/some";
  solution.task = task;
  solution.symptom = symptom;
  return solution;
}

TEST_CASE("a wrong solution loses its task, and may lose those that need it, but no other") {
  const Rubric rubric = rubric_of_three();
  CHECK(solution_verdict(find_solution("x.a"), rubric, with_failed({"x.a"})).as_required);
  CHECK(solution_verdict(find_solution("x.a"), rubric, with_failed({"x.a", "x.b"})).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.a"), rubric, with_failed({"x.b"})).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.a"), rubric, with_failed({})).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.a"), rubric, with_failed({"x.a", "x.c"})).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.b"), rubric, with_failed({"x.a", "x.b"})).as_required);
  Solution wide = find_solution("x.a");
  wide.also = {"x.c"};
  CHECK(solution_verdict(wide, rubric, with_failed({"x.a", "x.c"})).as_required);
}

TEST_CASE("a wrong solution that stands alone costs no other task, not even one that needs its own") {
  const Rubric rubric = rubric_of_three();
  Solution alone = find_solution("x.a");
  alone.alone = true;
  CHECK(solution_verdict(alone, rubric, with_failed({"x.a"})).as_required);
  CHECK_FALSE(solution_verdict(alone, rubric, with_failed({"x.a", "x.b"})).as_required);
}

TEST_CASE("a wrong solution that names checks must fail those") {
  const Rubric rubric = rubric_of_three();
  LabOutcome outcome = with_failed({"x.a"});
  outcome.tasks["x.a"].checks.push_back({"Other", Worth::kPassed});
  Solution solution = find_solution("x.a");
  solution.checks = {"Check"};
  CHECK(solution_verdict(solution, rubric, outcome).as_required);
  outcome.tasks["x.a"].checks.push_back({"Third", Worth::kFailed, "sends 3 bytes"});
  CHECK(solution_verdict(solution, rubric, outcome).as_required);
  solution.checks = {"Check", "Other"};
  CHECK_FALSE(solution_verdict(solution, rubric, outcome).as_required);
  solution.checks = {"Other"};
  CHECK_FALSE(solution_verdict(solution, rubric, outcome).as_required);
}

TEST_CASE("a wrong solution that names what is said must have it said by a check that fails") {
  const Rubric rubric = rubric_of_three();
  LabOutcome outcome = with_failed({"x.a"});
  outcome.tasks["x.a"].checks.push_back({"Other", Worth::kTooExpensive, "sends 3 bytes"});
  outcome.tasks["x.a"].checks.push_back({"Passes", Worth::kPassed, "sends 4 bytes"});
  Solution solution = find_solution("x.a");
  solution.says = "sends 3";
  CHECK(solution_verdict(solution, rubric, outcome).as_required);
  solution.says = "sends 4";
  CHECK_FALSE(solution_verdict(solution, rubric, outcome).as_required);
}

TEST_CASE("what was not judged is neither caught nor lost") {
  const Rubric rubric = rubric_of_three();
  LabOutcome outcome = with_failed({"x.a"});
  outcome.tasks["x.c"].checks[0].worth = Worth::kNotJudged;
  const Verdict verdict = solution_verdict(find_solution("x.a"), rubric, outcome);
  CHECK_FALSE(verdict.as_required);
  CHECK(verdict.complaint == "not judged: x.c");
}

TEST_CASE("a wrong solution that names a symptom must show it") {
  const Rubric rubric = rubric_of_three();
  CHECK(solution_verdict(find_solution("x.a", "zeros"), rubric, with_failed({"x.a"}, "zeros")).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.a", "zeros"), rubric, with_failed({"x.a"}, "sign")).as_required);
  CHECK_FALSE(solution_verdict(find_solution("x.a", "zeros"), rubric, with_failed({"x.a"})).as_required);
}

TEST_CASE("a right solution loses nothing") {
  const Rubric rubric = rubric_of_three();
  Solution right;
  right.right = true;
  CHECK(solution_verdict(right, rubric, with_failed({})).as_required);
  const Verdict lost = solution_verdict(right, rubric, with_failed({"x.b"}));
  CHECK_FALSE(lost.as_required);
  CHECK(lost.complaint.find("x.b") != std::string::npos);
}

TEST_CASE("a verdict is the same after its way between processes") {
  const Verdict read = from_json_text<Verdict>(json_text(Verdict{true, "none", "\xff", "zeros", "full", 1.5}), "it");
  CHECK(read.as_required);
  CHECK(read.complaint == "none");
  CHECK(read.found == "\uFFFD");
  CHECK(read.symptom == "zeros");
  CHECK(read.level == "full");
  CHECK(read.seconds == 1.5);
  CHECK_THROWS_WITH_AS(from_json_text<Verdict>(R"({"as_required": true})", "a verdict"),
                       doctest::Contains("'complaint' not found"), UsageError);
}

}  // namespace
}  // namespace lab::grading
