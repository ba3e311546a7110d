#include "grading/marks/shown_to_student.h"

#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using testing::a_manual;
using testing::a_task;
using testing::judged;

struct Graded {
  Rubric rubric;
  LabOutcome outcome;
  LabMarks marks() const { return compute_marks(rubric, outcome, {}); }
};

/// A visible task that needs a hidden one, a ladder over both, and a bonus that is shown later.
Graded a_grading() {
  Graded graded;
  graded.rubric.lab = "a9_collectives";
  graded.rubric.tasks = {a_task("a9.all", 10), a_task("a9.allgather", 5, {"a9.all"}), a_task("a9.late", 2)};
  graded.rubric.tasks[0].visibility = Visibility::kHidden;
  graded.rubric.tasks[2].visibility = Visibility::kAfterDueDate;
  graded.rubric.tasks[2].bonus = true;
  graded.rubric.manuals = {a_manual("a9.q", 3, "answers.md")};
  graded.rubric.total = 18;
  graded.rubric.ladders = {{"a9.ladder", "Steps", 4, {{4, "all", {"a9.all", "a9.allgather"}, {}}}}};
  graded.outcome = testing::make_outcome({judged("a9.all", {Worth::kFailed}),
                                          judged("a9.allgather", {Worth::kPassed, Worth::kFailed}),
                                          judged("a9.late", {Worth::kPassed})});
  graded.outcome.answers["answers.md"] = "x";
  return graded;
}

TEST_CASE("what is not visible is in no list, no sum, and no line of what is") {
  const Graded graded = a_grading();
  const ShownToStudent shown(graded.marks(), graded.outcome);
  CHECK(shown.num_hidden() == 2);
  REQUIRE(shown.marks().items.size() == 3);
  CHECK(shown.marks().items[0].findings == std::vector<std::string>{"no rung is reached", kNotShownLine});
  CHECK(shown.marks().items[1].findings ==
        std::vector<std::string>{kNotShownLine, "a9.allgather.Check1: on 4 ranks: expected 10, got 2.5",
                                 "1 of 2 checks passed"});
  CHECK(shown.marks().marks == 2.5);
  CHECK(shown.marks().total == 4 + 5 + 3);
  CHECK(shown.marks().pending == 3);
  CHECK(shown.lines({"a9.late.Check0 of it", "a9.later", "x.a9.lateness", "a9.late"}) ==
        std::vector<std::string>{kNotShownLine, "a9.later", "x.a9.lateness", kNotShownLine});

  const std::string report = to_markdown(graded.marks(), graded.outcome);
  CHECK(report.find(kNotShownNote) != std::string::npos);
  for (const char* hidden : {"a9.all ", "a9.all`", "a9.all)", "a9.all.", "a9.late"})
    CHECK_MESSAGE(report.find(hidden) == std::string::npos, hidden);
}

TEST_CASE("Gradescope's file holds back what the reports do, and its score counts everything") {
  const Graded graded = a_grading();
  const std::string json = to_gradescope_json(graded.marks(), graded.outcome);
  CHECK(json.find("\"visibility\": \"hidden\"") != std::string::npos);
  CHECK(json.find("A9: 2.5 of 12, 3 pending") != std::string::npos);
  CHECK(json.find("\"score\": 4.5") != std::string::npos);
}

TEST_CASE("where everything is visible, it is as it was") {
  Graded graded = a_grading();
  for (RubricTask& task : graded.rubric.tasks) task.visibility = Visibility::kVisible;
  graded.rubric.total = 21;
  const ShownToStudent shown(graded.marks(), graded.outcome);
  CHECK(shown.num_hidden() == 0);
  CHECK(shown.marks().total == 21);  // the rubric's, whatever its items add up to
  CHECK(shown.marks().items.size() == 5);
  CHECK(shown.marks().items[0].findings == graded.marks().items[0].findings);
  CHECK(to_markdown(graded.marks(), graded.outcome).find("not shown") == std::string::npos);
}

}  // namespace
}  // namespace lab::grading
