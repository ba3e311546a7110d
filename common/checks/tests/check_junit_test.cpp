
#include <nlohmann/json.hpp>

#include "common/checks/check_report.h"
#include "common/testing/get_message.h"
#include "common/testing/junit_schema.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

using Outcome = JunitCase::Outcome;
CaseVerdict case_with(const std::string& name, Worth worth, const std::string& reason = "") {
  CaseVerdict verdict{name, worth, reason};
  verdict.ranks.resize(2);
  verdict.ranks[0].reason = reason;
  return verdict;
}

/// Every outcome that there is.
std::vector<TaskOutcome> all_outcomes() {
  CaseVerdict wrong = case_with("Wrong", Worth::kFailed, "rank 0, result 'out' is missing");
  wrong.symptom = Symptom{"zeros", "nothing was written"};
  CaseVerdict hangs = case_with("Hangs", Worth::kFailed, "rank 0: late");
  hangs.failure = "deadlock: rank 0 waits for rank 1";
  hangs.rank_lines = {"rank 0 waits"};
  TaskOutcome todo{"a0.todo", Worth::kAsChecked};
  todo.checks = {case_with("Before", Worth::kPassed), case_with("Todo", Worth::kNotImplemented)};
  todo.missing_task = "a0.helper";
  return {{"a0.task",
           Worth::kAsChecked,
           {case_with("Right", Worth::kPassed), wrong,
            case_with("Costly", Worth::kTooExpensive, "rank 0: 3 calls of all_gather"),
            case_with("Skipped", Worth::kSkipped, "too few heads"), hangs}},
          todo};
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
