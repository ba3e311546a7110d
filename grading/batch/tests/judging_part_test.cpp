#include "grading/batch/judging_part.h"

#include <functional>

#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::a_manual;
using testing::a_task;

/// Whether a change of a rubric judges its lab again.
bool judges_again(const std::function<void(Rubric&)>& change) {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.tasks = {a_task("a9.x", 10), a_task("a9.y", 10, {"a9.x"})};
  rubric.tasks[1].stand_in = {"student/x.cpp"};
  rubric.manuals = {a_manual("a9.q", 5, "answers.md")};
  rubric.ladders = {{"a9.ladder", "Steps", 4, {{4, "all", {"a9.x"}, {}}}}};
  rubric.bonuses = {{"a9.bonus", "Bonus", 1, {"a9.y"}, {}}};
  rubric.hand_in.sources = {"student/x.cpp"};
  const std::string before = judging_part(rubric);
  change(rubric);
  return judging_part(rubric) != before;
}

TEST_CASE("what changes marks, or who sees them, judges nothing again") {
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].marks = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].bonus = true; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].all_or_nothing = true; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].visibility = Visibility::kHidden; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.manuals[0].marks = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.ladders[0].total = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.bonuses[0].needs = {"a9.x"}; }));
}

TEST_CASE("what judging depends on judges the lab again") {
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].needs.clear(); }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].stand_in.clear(); }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].judges_cost = {"student/x.cpp"}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].file = "student/z.cpp"; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.ranks = {4}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.cheap_ranks = {2}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.stall_seconds = 20; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.budget_seconds = 20; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.hand_in.answers = {"a.log"}; }));
}

}  // namespace
}  // namespace lab::grading
