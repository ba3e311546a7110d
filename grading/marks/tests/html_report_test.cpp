#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using testing::a_task;
using testing::judged;

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
