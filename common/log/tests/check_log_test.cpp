#include "common/log/check_log.h"

#include <algorithm>

#include "common/api/errors.h"
#include "common/log/tests/sample_log.h"
#include "common/testing/plain_test.h"

namespace {

using lab::testing::sample_expectation;
using lab::testing::sample_log;

std::vector<std::string> check(const std::string& text) {
  return lab::log::check_log(text, sample_expectation());
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = sample_log();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The one problem of the log.
std::string only_problem(const std::string& text) {
  const std::vector<std::string> problems = check(text);
  for (const std::string& problem : problems) INFO(problem);
  REQUIRE(problems.size() == 1);
  return problems.front();
}

}  // namespace

TEST_CASE("check log: the right log is accepted, in any order of whole ranks that the rules allow") {
  CHECK(check(sample_log()).empty());
  // Rank 2's check may come before rank 0's accumulation.
  const std::string line =
      "[DataParallel][Rank 2] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09\n";
  std::string text = replaced(line, "");
  text.insert(text.find("[Rank 0] Accumulate"), line);
  CHECK(check(text).empty());
  CHECK(check(replaced("Max diff: 2.384186e-07", "Max diff: 1.000000e-06")).empty());
}

TEST_CASE("check log: each problem is one message that names line, rank, expected and got") {
  CHECK(only_problem(replaced("[Rank 0] Compute the updated matrix.\n", "")) ==
        "line 5: rank 0: missing before here: \"[Rank 0] Compute the updated matrix.\"");
  CHECK(only_problem(replaced("[Rank 2] done\n", "")) == "line 11: rank 2: missing before here: \"[Rank 2] done\"");
  CHECK(only_problem(replaced("[Rank 1] done\n", "[Rank 1] done\n[Rank 1] done\n")) ==
        "line 18: rank 1: duplicated line: \"[Rank 1] done\"");
  CHECK(only_problem(replaced("[Rank 1] done\n", "[Rank 1] done\n[Rank 1] bye\n")) ==
        "line 18: rank 1: unexpected line \"[Rank 1] bye\"");
  CHECK(only_problem(replaced("ready!", "steady!")) ==
        "line 4: rank 0: expected \"[Rank 0] All ranks ready!\", got \"[Rank 0] All ranks steady!\"");
  CHECK(only_problem(replaced("True", "False")) == "line 8: rank 0: expected True, got False");
  CHECK(only_problem(replaced("False", "True")) == "line 6: rank 0: expected False, got True");
  CHECK(only_problem(replaced("Max diff: 2.384186e-07", "Max diff: 1.000001e-06")) ==
        "line 8: rank 0: expected a max diff of at most 1e-06, got 1.000001e-06");
  CHECK(only_problem(replaced("Max diff: 2.384186e-07", "Max diff: nan")) ==
        "line 8: rank 0: expected a finite max diff, got nan");
  CHECK(only_problem(replaced("Mean diff: 5.065431e-09", "Mean diff: nan")) ==
        "line 8: rank 0: expected a finite mean diff, got nan");
  CHECK(only_problem(replaced("Mean diff: 5.065431e-09", "Mean diff: 5.065431e-07")) ==
        "line 8: rank 0: mean diff 5.065431e-07 is above max diff 2.384186e-07");
  CHECK(only_problem(replaced("1.193051e-01", "1.193052e-01")) ==
        "line 6: rank 0: expected max diff 1.193051e-01, got 1.193052e-01");
  CHECK(only_problem(replaced("3.029096e-02", "3.029097e-02")) ==
        "line 6: rank 0: expected mean diff 3.029096e-02, got 3.029097e-02");
  CHECK(only_problem(replaced("skipped: no namespaces", "skipped: lazy"))
            .find("expected \"[Sandbox][Rank 1] skipped: no namespaces\"") != std::string::npos);
  CHECK(only_problem(replaced("[Bias][Rank 2]", "[Bias][Rank 2] Warning: x\n[Bias][Rank 2]"))
            .find("line 10: rank 2: unexpected") == 0);
  CHECK(
      only_problem(replaced("[Rank 0] Acc", "warning: x\n[Rank 0] Acc")).find("line 7: unknown line \"warning: x\"") ==
      0);
}

TEST_CASE("check log: a wrong verdict after a missing line is a separate problem") {
  std::string text = replaced("[Rank 0] Accumulate, 4 steps.\n", "");
  text.replace(text.find("True"), 4, "False");
  const std::vector<std::string> problems = check(text);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0] == "line 7: rank 0: missing before here: \"[Rank 0] Accumulate, {number} steps.\"");
  CHECK(problems[1] == "line 7: rank 0: expected True, got False");
}

TEST_CASE("expected line: belongs to its rank and its prefix") {
  const lab::log::ExpectedLine match = lab::log::ExpectedMatch{"A", true, 1e-6, "", ""};
  const std::string figures = " Tensors match: True | Max diff: 0.000000e+00 | Mean diff: 0.000000e+00";
  CHECK(lab::log::problem_with(match, 1, "[A][Rank 1]" + figures).empty());
  CHECK_FALSE(lab::log::problem_with(match, 2, "[A][Rank 1]" + figures).empty());
  CHECK_FALSE(lab::log::problem_with(match, 1, "[B][Rank 1]" + figures).empty());
  CHECK_FALSE(lab::log::problem_with(match, 1, "[Rank 1]" + figures).empty());
  const lab::log::ExpectedLine skip = lab::log::ExpectedSkip{"A", ""};
  CHECK(lab::log::problem_with(skip, 1, "[A][Rank 1] skipped: x").empty());
  CHECK_FALSE(lab::log::problem_with(skip, 2, "[A][Rank 1] skipped: x").empty());
  CHECK_FALSE(lab::log::problem_with(skip, 1, "[B][Rank 1] skipped: x").empty());
}

TEST_CASE("check log: a False line needs a difference") {
  lab::log::LogExpectation log(1);
  log.add(0, lab::log::ExpectedMatch{"A", false, 0.0, "", ""});
  CHECK(
      lab::log::check_log("[A][Rank 0] Tensors match: False | Max diff: 1.000000e-01 | Mean diff: 1.000000e-02\n", log)
          .empty());
  for (const char* figures :
       {"Max diff: 0.000000e+00 | Mean diff: 0.000000e+00", "Max diff: nan | Mean diff: nan",
        "Max diff: inf | Mean diff: 1.000000e+00", "Max diff: 1.000000e-01 | Mean diff: 0.000000e+00"}) {
    CAPTURE(figures);
    CHECK(lab::log::check_log(std::string("[A][Rank 0] Tensors match: False | ") + figures + "\n", log).size() == 1);
  }
}

TEST_CASE("check log: lines out of order within a rank, but not between ranks") {
  std::string text = replaced("[Bias][Rank 1] skipped: no bias\n[Sandbox][Rank 1] skipped: no namespaces\n",
                              "[Sandbox][Rank 1] skipped: no namespaces\n[Bias][Rank 1] skipped: no bias\n");
  const std::vector<std::string> problems = check(text);
  REQUIRE_FALSE(problems.empty());
  bool told = false;
  for (const std::string& problem : problems) told = told || problem.find("out of order") != std::string::npos;
  CHECK(told);

  const std::string late = "[Distributed Init] Rank 2 initialized on 7 on GPU 12.\n";
  text = replaced(late, "");
  text.insert(text.find("[Rank 0] Compute"), late);
  CHECK(check(text).empty());
}

TEST_CASE("check log: a rank too many, a rank without a line, two lines run together") {
  CHECK(only_problem(sample_log() + "[Rank 3] done\n") ==
        "line 19: rank 3 is not one of the 3 ranks; was the run started with --nproc 3?");
  lab::log::LogExpectation four = sample_expectation();
  four.per_rank.emplace_back(four.per_rank[2]);
  const std::vector<std::string> problems = lab::log::check_log(sample_log(), four);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().find("rank 3: printed nothing; expected 4 lines") == 0);
  const std::vector<std::string> run_together = check(replaced("[Rank 1] done\n", "[Rank 1] done"));
  CHECK(std::count(run_together.begin(), run_together.end(),
                   "line 17: two lines run together: \"[Rank 1] done[Rank 0] done\"") == 1);
}

TEST_CASE("check log: a file that is not a complete text file is refused with a hint") {
  CHECK(only_problem("") == "the log is empty; expected the output of a run");
  const std::string right = sample_log();
  CHECK(only_problem(right.substr(0, right.size() - 1)).find("line 18: has no line end") == 0);
  CHECK(only_problem(replaced("ready!\n", "ready!\r\n")).find("line 4: ends in a carriage return") == 0);
  CHECK(only_problem(replaced("ready", "re\tady")).find("line 4: holds a control character (code 9)") == 0);
  CHECK_FALSE(check("\n").empty());
}

TEST_CASE("check log: a long log with one line missing is explained in time") {
  lab::log::LogExpectation log(1);
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    log.add(0, lab::log::ExpectedText{"[Rank 0] step " + std::to_string(i)});
    if (i != 2500) text += "[Rank 0] step " + std::to_string(i) + "\n";
  }
  const std::vector<std::string> problems = lab::log::check_log(text, log);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front() == "line 2501: rank 0: missing before here: \"[Rank 0] step 2500\"");
}

TEST_CASE("check log: in a long log the first problems are reported, and none caused by the clipping") {
  lab::log::LogExpectation log(1);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    log.add(0, lab::log::ExpectedText{"[Rank 0] step " + std::to_string(i)});
    if (i != 100) text += (i == 2900 ? "[Rank 0] stop " : "[Rank 0] step ") + std::to_string(i) + "\n";
  }
  CHECK(lab::log::check_log(text, log) ==
        std::vector<std::string>{"line 101: rank 0: missing before here: \"[Rank 0] step 100\""});
}

TEST_CASE("check log: a long log that is wrong all over is explained in part") {
  lab::log::LogExpectation log(1);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    log.add(0, lab::log::ExpectedText{"[Rank 0] step " + std::to_string(i)});
    text += "[Rank 0] stride " + std::to_string(i) + "\n";
  }
  const std::vector<std::string> problems = lab::log::check_log(text, log);
  REQUIRE(problems.size() >= 1);
  CHECK(problems.size() <= 400);
  CHECK(problems.front() == "line 1: rank 0: expected \"[Rank 0] step 0\", got \"[Rank 0] stride 0\"");
}

TEST_CASE("check log: what the program says on stderr may stand between the lines, its errors may not") {
  const std::string log = lab::testing::sample_log();
  const lab::log::LogExpectation expectation = lab::testing::sample_expectation();
  const auto accepted = [&](const std::string& line, const std::string& program = "a9_x") {
    const std::size_t middle = log.find("[Rank 2] done");
    return lab::log::check_log(log.substr(0, middle) + line + "\n" + log.substr(middle), expectation, program).empty();
  };
  for (const char* line : {"a9_x: rank 0 of 4, as told by Slurm", "a9_x: in model time (10 GFLOP/s):",
                           "  ring 1f1b  speed-up 2.87 of 4 | work 3.95 | waiting 27 %", "0: a9_x: rank 0 of 4",
                           "Pipeline: 240 of 480 after 10 s: loss 2.303"}) {
    CAPTURE(line);
    CHECK(accepted(line));
    CHECK_FALSE(accepted(line, ""));
    CHECK_FALSE(accepted(std::string("[Rank 0] ") + line));
  }
  for (const char* line : {"a9_x: error: out of memory", "a9_x: internal error: x", "a9_y: done", "x", "", "Killed",
                           "a9_x: [Rank 0] Tensors match: True | Max diff: 0.000000e+00 | Mean diff: 0.000000e+00"}) {
    CAPTURE(line);
    CHECK_FALSE(accepted(line));
  }
}

TEST_CASE("log expectation: a world without ranks is refused") {
  CHECK_THROWS_AS(lab::log::LogExpectation(0), lab::UsageError);
}
