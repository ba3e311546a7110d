#include <cstdlib>
#include <stdexcept>

#include "common/base/files.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"
#include "grading/marks/answer_key.h"

namespace lab::grading {
namespace {

using Lines = std::vector<std::string>;

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
