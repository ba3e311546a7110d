#include "common/course/combined_results.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::SampleTree;

constexpr char kRight[] = R"("skipped": false, "passed": true, "exit_code": 0)";
constexpr char kWrong[] = R"("skipped": false, "passed": false, "exit_code": 1)";
constexpr char kTodo[] = R"("skipped": false, "passed": false, "exit_code": 3)";
constexpr char kSkipped[] = R"("skipped": true, "passed": false, "exit_code": 0)";

/// The summary of the sample's three tasks with these results; an empty one is left out.
TestSummary summary_with(const std::string& pipe, const std::string& valve, const std::string& tap,
                         const std::string& more = "", const std::string& problem = "") {
  const SampleTree sample;
  std::string results;
  for (const auto& [task, result] :
       {std::pair{"a0.pipe", pipe}, {"a0.valve", valve}, {"a0.tap", tap}, {"a0.given", more}}) {
    if (!result.empty())
      results += std::string(results.empty() ? "" : ", ") + "{\"task\": \"" + task + "\", " + result + "}";
  }
  sample.write("results/0001-a0_pipes.json", "[" + results + "]");
  if (!problem.empty()) sample.write("results/0002-a0_pipes.problem", problem + "\n");
  // What was remembered of earlier checks does not count.
  sample.write(".lab-progress", "a0.pipe solved - - 0\na0.valve wrong - - 0\n");
  return summarize(sample.load(), CombinedResults(sample.path("results")));
}

TEST_CASE("all tasks solved") {
  const TestSummary summary = summary_with(kRight, kRight, kRight);
  CHECK(summary.text == "a0_pipes: 3 of 3 tasks solved\n3 of 3 tasks solved\n");
  CHECK(summary.exit_code == ExitCode::kAllMatch);
}

TEST_CASE("TODOs are left, and nothing is wrong") {
  const TestSummary summary = summary_with(kRight, kTodo, kTodo);
  CHECK(summary.text == "a0_pipes: 1 of 3 tasks solved, 2 still to do\n1 of 3 tasks solved, 2 still to do\n");
  CHECK(summary.exit_code == ExitCode::kNotImplemented);
}

TEST_CASE("wrong tasks are named") {
  const TestSummary summary = summary_with(kWrong, kTodo, kWrong);
  CHECK(summary.text ==
        "a0_pipes: 0 of 3 tasks solved, 1 still to do, 2 wrong: a0.pipe, a0.tap\n"
        "0 of 3 tasks solved, 1 still to do, 2 wrong\n");
  CHECK(summary.exit_code == ExitCode::kMismatch);
}

TEST_CASE("a task without a result was not checked, and is not wrong") {
  const TestSummary summary = summary_with(kRight, "", kSkipped);
  CHECK(summary.text == "a0_pipes: 1 of 3 tasks solved, 2 not checked\n1 of 3 tasks solved, 2 not checked\n");
  CHECK(summary.exit_code == ExitCode::kMismatch);
}

TEST_CASE("problems and provided files that are wrong are told, and count as wrong") {
  const TestSummary summary = summary_with(kRight, kRight, kRight, kWrong);
  CHECK(summary.text ==
        "a0_pipes: 3 of 3 tasks solved\n"
        "a0.given is wrong, and is not one of your tasks: was a provided file changed?\n"
        "3 of 3 tasks solved\n");
  CHECK(summary.exit_code == ExitCode::kMismatch);
  const TestSummary refused = summary_with(kRight, kRight, kRight, "", "the grading would refuse a file");
  CHECK(refused.text ==
        "a0_pipes: 3 of 3 tasks solved\n"
        "  the grading would refuse a file\n"
        "3 of 3 tasks solved\n");
  CHECK(refused.exit_code == ExitCode::kMismatch);
}

}  // namespace
}  // namespace lab
