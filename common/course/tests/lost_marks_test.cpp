#include "common/course/hand_in/lost_marks.h"

#include "common/testing/plain_test.h"

namespace lab {
namespace {

RubricTask task(const std::string& id, double marks, const std::vector<std::string>& needs = {}) {
  RubricTask task;
  task.id = id;
  task.marks = marks;
  task.needs = needs;
  return task;
}

Rubric lab_with_marks() {
  Rubric lab;
  lab.tasks = {task("a", 15), task("b", 20, {"a"}), task("c", 2)};
  lab.tasks[2].bonus = true;
  RubricManual words;
  words.id = "words";
  words.marks = 3;
  lab.manuals = {words};
  return lab;
}

/// A ladder of three rungs: the first needs one of two tasks, the second also a check of a task, by its name.
Rubric lab_with_ladder() {
  Rubric lab;
  lab.tasks = {task("part", 0), task("column", 0, {"part"}), task("row", 0), task("mlp", 0), task("extra", 0)};
  lab.ladders = {
      {"ladder",
       "Ladder",
       5,
       {{1, "one layer", {}, {"column", "row"}}, {2, "two", {"mlp", "PartWide"}, {}}, {5, "all", {"words"}, {}}},
       Visibility::kVisible}};
  lab.bonuses = {{"bonus", "Bonus", 1, {"extra"}, {}, Visibility::kVisible}};
  return lab;
}

TEST_CASE("marks lost are those of the items themselves, bonus marks apart") {
  const Rubric lab = lab_with_marks();
  CHECK(lost_without(lab, {}).text() == "no marks by itself");
  CHECK(lost_without(lab, {"a"}).text() == "up to 15 marks");  // b may be right all the same
  CHECK(lost_without(lab, {"a", "b", "words"}).text() == "up to 38 marks");
  CHECK(lost_without(lab, {"c"}).text() == "up to 2 bonus marks");
  CHECK(lost_without(lab, {"a", "c"}).text() == "up to 15 marks and 2 bonus marks");
}

TEST_CASE("of a ladder the rungs above the highest one that is reached are lost") {
  const Rubric lab = lab_with_ladder();
  CHECK(lost_without(lab, {"mlp"}).marks == 4);
  CHECK(lost_without(lab, {"words"}).marks == 3);
  CHECK(lost_without(lab, {"row"}).marks == 0);
  CHECK(lost_without(lab, {"part"}).marks == 4);  // row is enough for the first, PartWide is a check of part
  CHECK(lost_without(lab, {"part", "row"}).marks == 5);
  CHECK(lost_without(lab, {"extra"}).text() == "up to 1 bonus mark");
}

TEST_CASE("each of several tasks costs what it would alone, or more along with the others") {
  const auto lost = lost_by_each(lab_with_ladder(), {"column", "row", "mlp", "extra"});
  CHECK(lost.at("column").marks == 1);  // 0 alone: with row left as well, the first rung is lost, too
  CHECK(lost.at("mlp").marks == 4);
  CHECK(lost.at("extra").marks == 0);
  CHECK(lost_by_each(lab_with_ladder(), {"row"}).at("row").marks == 0);
}

}  // namespace
}  // namespace lab
