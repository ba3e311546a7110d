#include "grading/marks/lab_marks.h"

#include "common/testing/plain_test.h"
#include "grading/marks/manual_marks.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::a_manual;
using testing::a_task;
using testing::item_named;
using testing::judged;
using testing::make_outcome;
using Strings = std::vector<std::string>;

/// 100 marks: 60 and 20 for tasks, 20 by hand; a bonus task of 15.
Rubric a_rubric() {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.title = "Collectives";
  rubric.total = 100;
  rubric.bonus_total = 15;
  rubric.tasks = {a_task("a9.x", 60), a_task("a9.y", 20, {"a9.x"}), a_task("a9.ring", 15, {"a9.x"})};
  rubric.tasks[2].bonus = true;
  rubric.manuals = {a_manual("a9.drawing", 20, "drawing.png")};
  rubric.manuals[0].also = {"drawing.pdf"};
  return rubric;
}

LabOutcome all_right() {
  LabOutcome outcome;
  for (const RubricTask& task : a_rubric().tasks) outcome.tasks[task.id] = judged(task.id, {Worth::kPassed});
  outcome.answers["drawing.pdf"] = "%PDF";
  return outcome;
}

TEST_CASE("marks: everything right, with a bonus above the total, and what waits for a person") {
  const LabMarks marks = compute_marks(a_rubric(), all_right(), {});
  CHECK(marks.marks == 95);
  CHECK(marks.total == 100);
  CHECK(marks.pending == 20);
  CHECK(headline(marks) == "A9: 95 of 100 (15 of them a bonus), 20 pending");
  const MarkedItem drawing = item_named(marks, "a9.drawing");
  CHECK((drawing.worth == Worth::kPending));
  CHECK(drawing.attached == Strings{"drawing.pdf"});
  CHECK(item_named(marks, "a9.ring").bonus);
}

/// Marks of which a person gave some for the drawing that was handed in.
LabMarks marks_with(double given, const std::string& comment, const Rubric& rubric, const LabOutcome& outcome) {
  return compute_marks(rubric, outcome,
                       {{"a9.drawing", given, comment, find_version(rubric, rubric.manuals[0], outcome.answers)}});
}

TEST_CASE("marks: by hand") {
  const auto drawing_with = [](double given) { return marks_with(given, "neat", a_rubric(), all_right()); };
  CHECK(drawing_with(20).marks == 115);
  CHECK(drawing_with(20).pending == 0);
  CHECK((item_named(drawing_with(20), "a9.drawing").worth == Worth::kPassed));
  CHECK(drawing_with(7.5).marks == 102.5);
  CHECK((item_named(drawing_with(7.5), "a9.drawing").worth == Worth::kPartly));
  CHECK(item_named(drawing_with(7.5), "a9.drawing").findings == Strings{"neat"});
  CHECK(drawing_with(0).marks == 95);
  CHECK((item_named(drawing_with(0), "a9.drawing").worth == Worth::kFailed));
}

TEST_CASE("marks: what was not handed in is 0 at once, but a person may overrule that") {
  LabOutcome outcome = all_right();
  outcome.answers.clear();
  const LabMarks marks = compute_marks(a_rubric(), outcome, {});
  CHECK(marks.pending == 0);
  CHECK(item_named(marks, "a9.drawing").findings == Strings{"not handed in: drawing.png, drawing.pdf"});
  CHECK((item_named(marks, "a9.drawing").worth == Worth::kFailed));
  CHECK(marks_with(20, "on paper", a_rubric(), outcome).marks == 115);
}

TEST_CASE("marks: nothing found is nothing given") {
  const LabMarks marks = compute_marks(a_rubric(), {}, {});
  CHECK(marks.marks == 0);
  CHECK(marks.pending == 0);
  CHECK(marks.items.size() == 4);
  for (const MarkedItem& item : marks.items) CHECK_FALSE(item.findings.empty());
}

TEST_CASE("marks: a manual item without marks of its own raises a ladder only") {
  Rubric rubric = a_rubric();
  rubric.manuals[0].marks = 0;
  rubric.ladders = {{"a9.ladder", "Ladder", 5, {{2, "Low", {"a9.x"}, {}}, {5, "High", {"a9.drawing"}, {}}}}};
  CHECK(compute_marks(rubric, all_right(), {}).marks == 95 + 2);
  CHECK(compute_marks(rubric, all_right(), {}).pending == 3);
  CHECK(marks_with(1, "", rubric, all_right()).marks == 95 + 5);
  CHECK(marks_with(0, "", rubric, all_right()).marks == 95 + 2);
  CHECK(marks_with(0, "", rubric, all_right()).pending == 0);
}

TEST_CASE("marks: thirds are added before they are rounded, and shown rounded down") {
  Rubric rubric;
  rubric.lab = "vae_sequence_parallel";
  rubric.total = 15;
  LabOutcome outcome;
  for (const char* id : {"vae.a", "vae.b", "vae.c"}) {
    rubric.tasks.push_back(a_task(id, 5));
    outcome.tasks[id] = judged(id, {Worth::kPassed, Worth::kFailed, Worth::kFailed});
  }
  const LabMarks marks = compute_marks(rubric, outcome, {});
  CHECK(shown_marks(marks.items[0].marks) == "1.6");
  CHECK(headline(marks) == "VAE: 5 of 15");
}

TEST_CASE("marks as they are shown") {
  CHECK(shown_marks(0) == "0");
  CHECK(shown_marks(0.1 + 0.2) == "0.3");
  CHECK(shown_marks(2.9999999999) == "3");
  CHECK(shown_marks(2.99) == "2.9");
  CHECK(shown_marks(100) == "100");
  LabMarks option_c;
  option_c.lab = "optC_model_parallel";
  CHECK(headline(option_c) == "optC: 0 of 0");
}

}  // namespace
}  // namespace lab::grading
