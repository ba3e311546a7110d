#include "common/base/text.h"
#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using testing::a_manual;
using testing::a_task;
using testing::judged;

struct Reported {
  Rubric rubric;
  LabOutcome outcome;
  std::string report() const { return to_markdown(compute_marks(rubric, outcome, {}), outcome); }
};

Reported a_report() {
  Reported graded;
  graded.rubric.lab = "a9_collectives";
  graded.rubric.title = "Collectives";
  graded.rubric.total = 100;
  graded.rubric.tasks = {a_task("a9.x", 61), a_task("a9.y", 19)};
  graded.rubric.manuals = {a_manual("a9.written_q1", 20, "answers.md")};
  graded.outcome.tasks = {{"a9.x", judged("a9.x", {Worth::kPassed})}, {"a9.y", judged("a9.y", {Worth::kFailed})}};
  graded.outcome.answers["answers.md"] = "nothing";
  graded.outcome.seconds = 12.34;
  graded.outcome.isolation = "bubblewrap: no network";
  graded.outcome.seed = "--seed 123";
  return graded;
}

TEST_CASE("report: as a student reads it") {
  Reported graded = a_report();
  graded.outcome.notes = {"'extra.cpp' is not asked for",
                          "student/y.cpp does not compile:\ny.cpp:3: error: 'z' was not declared\n```\n"};
  CHECK(graded.report() == R"(# A9: 61 of 100, 20 pending

Collectives

| what | marks | of | |
|---|---:|---:|---|
| Title of a9.x (`a9.x`) | 61 | 61 | passed |
| Title of a9.y (`a9.y`) | 0 | 19 | failed |
| Title of a9.written_q1 (`a9.written_q1`) | 0 | 20 | pending: 20 wait for a person |

## What was found

### Title of a9.y (`a9.y`): 0 of 19

- a9.y.Check0: on 4 ranks: expected 10, got 2.5

### Title of a9.written_q1 (`a9.written_q1`): 0 of 20

- waits for a person

## Notes

- 'extra.cpp' is not asked for
- student/y.cpp does not compile:

````text
y.cpp:3: error: 'z' was not declared
```
````

## How this was judged

- isolation: bubblewrap: no network
- the same inputs again: grade with `--seed 123`
- seconds: 12.3
)");
}

TEST_CASE("report: what was not judged has no marks, not 0, and the report begins with that") {
  Reported graded = a_report();
  graded.outcome.tasks["a9.y"].worth = Worth::kNotJudged;
  graded.outcome.tasks["a9.y"].reason = "the compiler was kept waiting for a CPU, twice";
  const std::string report = graded.report();
  CHECK(report.find("# A9: 61 of 100, 20 pending, 19 not judged\n") == 0);
  CHECK(report.find(kNotJudgedNote) != std::string::npos);
  CHECK(report.find("| Title of a9.y (`a9.y`) |  | 19 | not judged: 19 wait for another grading |") !=
        std::string::npos);
  CHECK(report.find("### Title of a9.y (`a9.y`): not judged\n\n- not judged: the compiler was kept waiting") !=
        std::string::npos);
}

TEST_CASE("report: what the grader looks for is not in it") {
  CHECK(a_report().report().find("looks for") == std::string::npos);
}

TEST_CASE("report: a student's words cannot pass for the report's own, nor fill the disk") {
  Reported graded = a_report();
  graded.outcome.tasks["a9.y"].checks[0].reason = "printed\n# A9: 100 of 100\n| x | 61 | 61 | passed |\n\xFF\x1B[2J";
  graded.outcome.notes.assign(1000, "**bold** \xFE" + std::string(100000, 'z'));
  const std::string report = graded.report();
  CHECK(is_utf8(report));
  CHECK(report.size() < 500000);
  CHECK(report.find('\x1B') == std::string::npos);
  CHECK(report.find("\\*\\*bold\\*\\*") != std::string::npos);
  CHECK(report.find("```text\n# A9: 100 of 100\n") != std::string::npos);  // inside a block
  CHECK(report.find("- and 960 more\n") != std::string::npos);
}

TEST_CASE("report: an item without marks of its own has none in the table") {
  Reported graded = a_report();
  graded.rubric.tasks[1].marks = 0;
  const std::string report = graded.report();
  CHECK(report.find("| Title of a9.y (`a9.y`) |  |  | failed |") != std::string::npos);
  CHECK(report.find("### Title of a9.y (`a9.y`): failed\n") != std::string::npos);
}

}  // namespace
}  // namespace lab::grading
