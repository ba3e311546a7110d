#include "grading/marks/answer_key.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using Lines = std::vector<std::string>;

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

std::string lab_path(const std::string& path) {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return std::string(source_dir) + "/" + path;
}

/// Of the lab's rubric.
RubricManual find_item(const std::string& lab, const std::string& id) {
  for (const RubricManual& manual : load_rubric(lab_path(lab + "/rubric.toml")).manuals) {
    if (manual.id == id) return manual;
  }
  throw std::runtime_error("there is no item " + id);
}

QuestionNumbers handouts_numbers(const RubricManual& item) {
  return read_numbers(Rubric(), item, "s1");
}

/// For the handout's numbers, for which the reference answers must have these rows.
Lines expected_by(const std::string& lab, const std::string& id, const std::string& answers, const Lines& rows) {
  const std::string text = read_file(lab_path(lab + "/answers/" + answers));
  for (const std::string& row : rows) CHECK_MESSAGE(text.find(row) != std::string::npos, row);
  return expected_cells(id, handouts_numbers(find_item(lab, id)));
}

TEST_CASE("expected cells: for the handout's numbers, what the reference answers have") {
  const std::string a9 = "a9_collectives", a9_answers = "written_answers_task1.md";
  CHECK(expected_by(a9, "a9.written_q1", a9_answers,
                    {"| 0    | 20.0        | 20.0 ", "| 1    | 20.0        | 20.0 ", "| 2    | 20.0        | 20.0 ",
                     "| 3    | 20.0        | 20.0 "}) ==
        Lines{"rank 0, printed x: 20", "rank 0, printed y: 20", "rank 1, printed x: 20", "rank 1, printed y: 20",
              "rank 2, printed x: 20", "rank 2, printed y: 20", "rank 3, printed x: 20", "rank 3, printed y: 20"});
  CHECK(expected_by(a9, "a9.written_q2", a9_answers,
                    {"| rank 1                   | 3.0 ", "| rank 2                   | 6.0 ",
                     "| rank 3                   | 10.0 ", "| 0    | 10.0 ", "| 3    | 10.0 "}) ==
        Lines{"after root 0 received from rank 1: 3", "after root 0 received from rank 2: 6",
              "after root 0 received from rank 3: 10", "rank 0, final value: 10", "rank 1, final value: 10",
              "rank 2, final value: 10", "rank 3, final value: 10"});
  CHECK(expected_by(a9, "a9.written_q3", a9_answers,
                    {"| 0    | [6]          | [0.0, 10.0, 1.0, 11.0, 2.0, 12.0] |",
                     "| 2    | [6]          | [0.0, 10.0, 1.0, 11.0, 2.0, 12.0] |"}) ==
        Lines{"rank 0, shape of y: 6", "rank 0, content of y: 0 10 1 11 2 12", "rank 1, shape of y: 6",
              "rank 1, content of y: 0 10 1 11 2 12", "rank 2, shape of y: 6", "rank 2, content of y: 0 10 1 11 2 12"});
  CHECK(expected_by("a5_pipeline", "a5.written_q3", "a5_answers.md",
                    {"| the defaults   | [2, 32, 64]     | float32  | 16384              | 48                          "
                     "   | 786432 "}) ==
        Lines{"shape: 2 32 64", "bytes of a message: 16384", "messages of a batch: 48", "bytes of a batch: 786432"});
}

TEST_CASE("expected cells: each student's own numbers have their own") {
  CHECK(expected_cells("a9.written_q1", {{"src", 2}, {"factor", 7}}).at(0) == "rank 0, printed x: 21");
  CHECK(expected_cells("a9.written_q2", {{"first", 5}}) ==
        Lines{"after root 0 received from rank 1: 11", "after root 0 received from rank 2: 18",
              "after root 0 received from rank 3: 26", "rank 0, final value: 26", "rank 1, final value: 26",
              "rank 2, final value: 26", "rank 3, final value: 26"});
  CHECK(expected_cells("a9.written_q3", {{"offset", 4}}).at(1) == "rank 0, content of y: 0 4 1 5 2 6");
  QuestionNumbers numbers = handouts_numbers(find_item("a5_pipeline", "a5.written_q3"));
  numbers["stages"] = 5;
  CHECK(expected_cells("a5.written_q3", numbers).at(3) == "bytes of a batch: 1048576");
  CHECK(expected_cells("a9.written_q1", {{"src", 1}}).empty());
  CHECK(expected_cells("a9.schematic", {}).empty());
}

TEST_CASE("the template's questions are the rubric's, with the handout's numbers") {
  const std::string text = read_file(lab_path("a9_collectives/written_answers_task1.template.md"));
  for (const char* id : {"a9.written_q1", "a9.written_q2", "a9.written_q3"}) {
    const RubricManual item = find_item("a9_collectives", id);
    const std::string question = question_with(item, handouts_numbers(item));
    CHECK_MESSAGE(text.find(question) != std::string::npos, question);
  }
}

}  // namespace
}  // namespace lab::grading
