#include "grading/marks/answer_key.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

TEST_CASE("answer key: marks, what to look for, and the reference answers") {
  const TemporaryFolder lab_folder;
  std::filesystem::create_directory(lab_folder.file("answers"));
  write_bytes(lab_folder.file("answers/b.md"), "20 on every rank");
  write_bytes(lab_folder.file("answers/a.png"), std::string("\x89PNG\0", 5));
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.title = "Collectives";
  rubric.total = 12;
  rubric.bonus_total = 4;
  rubric.marks_source = "Ours.";
  rubric.tasks = {testing::a_task("a9.x", 5), testing::a_task("a9.y", 2.5)};
  rubric.tasks[0].file = "student/x.cpp";
  rubric.tasks[1].file = "student/y.cpp";
  rubric.tasks[1].bonus = true;
  rubric.manuals = {testing::a_manual("a9.q", 2, "q.md")};
  rubric.manuals[0].also = {"q.pdf"};
  rubric.manuals[0].look_for = "20";
  rubric.ladders = {{"a9.ladder", "Ladder", 5, {{5, "Top", {"a9.x"}, {"a9.y", "a9.q"}}}}};
  rubric.bonuses = {{"a9.bonus", "Bonus", 1.5, {}, {"a9.y"}}};
  CHECK(answer_key(rubric, lab_folder.file("")) == R"(a9_collectives: Collectives; 12 marks, 4 on top
Ours.

Ladders and bonuses

  a9.ladder: Ladder, 5 marks
    5: Top; needs a9.x, one of a9.y, a9.q
  a9.bonus: Bonus, 1.5 marks on top; needs one of a9.y

Tasks; the reference solution is between markers in each task's file

  a9.x: Title of a9.x, 5 marks; student/x.cpp
  a9.y: Title of a9.y, 2.5 marks on top; student/y.cpp

Marked by a person

  a9.q: Title of a9.q, 2 marks; q.md, q.pdf
    look for: 20

===== answers/a.png =====

(not text: 5 B)

===== answers/b.md =====

20 on every rank
)");
}

TEST_CASE("answer key: a starter has no answers, and that is said") {
  const TemporaryFolder starter;
  CHECK_THROWS_AS(answer_key(Rubric{}, starter.file("")), UsageError);
}

}  // namespace
}  // namespace lab::grading
