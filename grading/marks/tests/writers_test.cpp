#include "grading/marks/writers.h"

#include "common/base/text.h"
#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::a_manual;
using testing::a_task;
using testing::judged;

TEST_CASE("markdown: words that mean nothing to it stay readable") {
  for (const char* text : {"on 4 ranks: rank 2, result 'out', element [3, 0]: expected 10, got 2.5", "a9.all_to_all",
                           "3 - 2 > 0", "costs & more", "v1.2.", "a, b (c)"})
    CHECK(markdown_text(text) == text);
}

TEST_CASE("markdown: words that mean something to it do not get through") {
  CHECK(markdown_text("**full marks**") == "\\*\\*full marks\\*\\*");
  CHECK(markdown_text("<script>") == "\\<script>");
  CHECK(markdown_text("a | b") == "a \\| b");
  CHECK(markdown_text("`code`") == "\\`code\\`");
  CHECK(markdown_text("[click](http://x)") == "\\[click\\](http://x)");
  CHECK(markdown_text("[x]: http://x") == "\\[x]: http://x");
  CHECK(markdown_text("_x_ __init__") == "\\_x\\_ \\_\\_init\\_\\_");
  CHECK(markdown_text("# A9: 100 of 100") == "\\# A9: 100 of 100");
  CHECK(markdown_text("- item") == "\\- item");
  CHECK(markdown_text("12. item") == "12\\. item");
  CHECK(markdown_text("&lt; &#60;") == "\\&lt; \\&#60;");
  CHECK(markdown_text("a\\*b") == "a\\\\\\*b");
  CHECK(markdown_text("one\n# two\n") == "one # two");
}

TEST_CASE("markdown: a block's fence is longer than any in it") {
  CHECK(markdown_block("x.cpp:1: error\n") == "```text\nx.cpp:1: error\n```\n");
  CHECK(markdown_block("no line end") == "```text\nno line end\n```\n");
  CHECK(markdown_block("```\n# out of it\n````") == "`````text\n```\n# out of it\n````\n`````\n");
}

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

struct ShownGrading {
  Rubric rubric;
  LabOutcome outcome;
  std::string page() const { return to_html(compute_marks(rubric, outcome, {}), outcome); }
};

ShownGrading shown_grading() {
  ShownGrading graded;
  graded.rubric.lab = "a9_collectives";
  graded.rubric.title = "Collectives";
  graded.rubric.tasks = {a_task("a9.x", 10), a_task("a9.y", 5), a_task("a9.z", 5)};
  graded.rubric.total = 20;
  graded.outcome =
      testing::make_outcome({judged("a9.x", {Worth::kPassed}), judged("a9.y", {Worth::kPassed, Worth::kTooExpensive}),
                             judged("a9.z", {Worth::kFailed})});
  CaseVerdict& costly = graded.outcome.tasks["a9.y"].checks[1];
  costly.reason = "on 4 ranks: rank 1: does 1.00 of one process's work";
  costly.symptom.message = "every rank does everything";
  costly.used = {1, 2, 3, 4000};
  costly.limits.flops = 1000;
  costly.timeline = R"({"title": "4 ranks", "ranks": 4, "legend": [], "clocks": []})";
  graded.outcome.tasks["a9.z"].reason = "student/z.cpp does not compile:\n  3 | int <x>;";
  graded.outcome.notes = {"handed in by Ada"};
  graded.outcome.seed = "--seed 7";
  return graded;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a failed check is shown with its first difference, its cause, and what it has cost next to the bound") {
  const std::string page = shown_grading().page();
  for (const char* part :
       {"A9: 12.5 of 20", "Collectives", "width: 62%", "on 4 ranks: rank 1: does 1.00 of one process&apos;s work",
        "every rank does everything", "floating-point operations", "4 000", "1 000", "costly", "aria-label=\"4 ranks\"",
        "student/z.cpp does not compile:", "  3 | int &lt;x&gt;;</pre>", "handed in by Ada", "lab grade --seed 7"}) {
    INFO(part);
    CHECK(has(page, part));
  }
  CHECK(has(page, "./lab hint a9.y"));
  CHECK_FALSE(has(page, "./lab hint a9.x"));
  // A check's line is not also in the list of other findings.
  CHECK_FALSE(has(page, "right, but too expensive"));
}

TEST_CASE("what is hidden from students, or waits, is so on the page") {
  ShownGrading graded = shown_grading();
  graded.rubric.tasks[2].visibility = Visibility::kHidden;
  CHECK_FALSE(has(graded.page(), "a9.z"));
  CHECK_FALSE(has(graded.page(), "student/z.cpp"));
  CHECK(has(graded.page(), "Some of it is not shown"));
  graded.outcome.tasks["a9.x"] = judged("a9.x", {Worth::kNotJudged});
  CHECK(has(graded.page(), "These marks are not final"));
}

}  // namespace
}  // namespace lab::grading
