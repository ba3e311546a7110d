
#include <nlohmann/json.hpp>

#include "common/checks/check_report.h"
#include "common/testing/junit_schema.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

using Outcome = JunitCase::Outcome;
using State = RankVerdict::State;

CheckedCase case_with(const std::string& name, State state, const std::string& reason = "") {
  CheckedCase checked;
  checked.task = "a0.task";
  checked.name = name;
  checked.ranks.resize(2);
  for (RankVerdict& rank : checked.ranks) rank.state = state;
  for (RankVerdict& rank : checked.ranks) rank.reason = reason;
  return checked;
}

TaskCheck task_with(const std::string& task, const std::vector<CheckedCase>& cases) {
  return {task, cases};
}

/// Every outcome that there is.
std::vector<TaskCheck> all_outcomes() {
  CheckedCase wrong = case_with("Wrong", State::kWrong, "result 'out' is missing");
  wrong.symptom = Symptom{"zeros", "nothing was written"};
  CheckedCase hangs = case_with("Hangs", State::kThrew, "");
  hangs.failure = launch::RankFailure{6, "deadlock: rank 0 waits for rank 1"};
  hangs.rank_lines = {"rank 0 waits"};
  CheckedCase todo = case_with("Todo", State::kNotImplemented);
  todo.ranks[0].missing_task = "a0.helper";
  return {task_with("a0.task", {case_with("Right", State::kRight), wrong,
                                case_with("Costly", State::kTooExpensive, "3 calls of all_gather"),
                                case_with("Skipped", State::kSkipped, "too few heads"), hangs}),
          task_with("a0.todo", {case_with("Before", State::kRight), todo})};
}

TEST_CASE("JUnit XML of checks: one test for each, and what is not written does not look right") {
  const JunitSuite suite = junit_suite("a0_lab", check_json(all_outcomes()));
  CHECK(suite.name == "a0_lab");
  REQUIRE(suite.cases.size() == 7);
  for (const JunitCase& one : suite.cases) CHECK(one.class_name == "a0_lab");
  const auto is = [&](std::size_t i, const char* name, Outcome outcome, const char* message) {
    CHECK(suite.cases[i].name == name);
    CHECK(suite.cases[i].outcome == outcome);
    CHECK(suite.cases[i].message == message);
  };
  is(0, "a0.task: Right", Outcome::kPassed, "");
  is(1, "a0.task: Wrong", Outcome::kFailed, "rank 0, result 'out' is missing; likely: nothing was written");
  is(2, "a0.task: Costly", Outcome::kFailed, "rank 0: 3 calls of all_gather");
  is(3, "a0.task: Skipped", Outcome::kSkipped, "too few heads");
  is(4, "a0.task: Hangs", Outcome::kError, "deadlock: rank 0 waits for rank 1");
  is(5, "a0.todo: Before", Outcome::kFailed, "not implemented: stops at TODO(a0.helper)");
  is(6, "a0.todo: Todo", Outcome::kFailed, "not implemented: stops at TODO(a0.helper)");
  CHECK(suite.cases[1].text ==
        "a0.task: 1 of 4 checks right on 2 ranks\n"
        "  wrong    Wrong: rank 0, result 'out' is missing\n"
        "           likely: nothing was written\n");
  CHECK(contains(suite.cases[4].text, "           rank 0 waits\n"));
}

TEST_CASE("JUnit XML of checks keeps to its schema") {
  const std::string xml = to_junit_xml({junit_suite("a0_lab", check_json(all_outcomes())), {"empty", {}}});
  CHECK(junit_violations(xml) == std::vector<std::string>());
  CHECK(contains(xml, "<testsuites tests=\"7\" failures=\"4\" errors=\"1\" skipped=\"1\">"));
  // ... which sees what is wrong
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = xml;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(junit_violations(changed("errors=\"1\"", "errors=\"2\"")).size() == 1);
  CHECK(junit_violations(changed("classname=", "class=")).size() == 1);
  CHECK(junit_violations(changed("<testsuite name=\"a0_lab\"", "<testsuite")).size() == 1);
  CHECK(junit_violations(changed("<skipped ", "<skip ")).size() >= 1);
  CHECK(junit_violations(changed("<testcase", "</testcase")).size() == 1);
}

TEST_CASE("JUnit XML of checks: a shaken run that went wrong says so") {
  nlohmann::json json = nlohmann::json::parse(check_json(all_outcomes()));
  json[0]["heading"] = "shaken run 3 of 20:\n";
  CHECK(contains(junit_suite("a0_lab", json.dump()).cases[1].text, "shaken run 3 of 20:\na0.task: 1 of 4"));
}

}  // namespace
}  // namespace lab::testing
