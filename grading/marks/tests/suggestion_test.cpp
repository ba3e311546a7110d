#include "grading/marks/suggestion.h"

#include <cstdlib>
#include <stdexcept>

#include "common/base/files.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

std::string lab_path(const std::string& path) {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return std::string(source_dir) + "/" + path;
}

std::string lab_file(const std::string& path) {
  return read_file(lab_path(path));
}

std::string a9_file(const std::string& name) {
  return lab_file("a9_collectives/" + name);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

/// Of the lab's rubric.
const RubricManual& a9_item(const std::string& id) {
  static const Rubric rubric = load_rubric(lab_path("a9_collectives/rubric.toml"));
  for (const RubricManual& manual : rubric.manuals) {
    if (manual.id == id) return manual;
  }
  throw std::runtime_error("there is no item " + id);
}

/// For the handout's numbers.
std::string suggested(const std::string& id, const std::string& text) {
  return suggestion_for(id, numbers_of(Rubric(), a9_item(id), ""), text);
}

TEST_CASE("suggestions: each student's own numbers have their own answers") {
  const std::string text = a9_file("answers/written_answers_task1.md");
  const QuestionNumbers numbers = {{"src", 2}, {"factor", 7}};
  CHECK(suggestion_for("a9.written_q1", numbers, text)
            .find("0 of 8 cells are as expected; rank 0, printed x: expected "
                  "21, found '20.0'") == 0);
  CHECK(suggestion_for("a9.written_q1", numbers, with(text, "| 20.0        | 20.0", "| 21 | 7 * 3 = 21"))
            .find("2 of 8 cells") == 0);
  CHECK(expected_cells("a9.written_q2", {{"first", 5}}) ==
        std::vector<std::string>{"after root 0 received from rank 1: 11", "after root 0 received from rank 2: 18",
                                 "after root 0 received from rank 3: 26", "rank 0, final value: 26",
                                 "rank 1, final value: 26", "rank 2, final value: 26", "rank 3, final value: 26"});
  CHECK(expected_cells("a9.written_q3", {{"offset", 4}}).at(1) == "rank 0, content of y: 0 4 1 5 2 6");
  CHECK(expected_cells("a9.written_q1", {{"src", 1}}).empty());
  CHECK(expected_cells("a9.schematic", {}).empty());
}

TEST_CASE("suggestions: A5's messages, with the defaults and with other sizes") {
  const std::string text = lab_file("a5_pipeline/answers/a5_answers.md");
  QuestionNumbers numbers;
  for (const RubricManual& manual : load_rubric(lab_path("a5_pipeline/rubric.toml")).manuals) {
    if (manual.id == "a5.written_q3") numbers = numbers_of(Rubric(), manual, "s1");
  }
  CHECK(suggestion_for("a5.written_q3", numbers, text) == "4 of 4 cells are as expected");
  CHECK(suggestion_for("a5.written_q3", numbers, lab_file("a5_pipeline/a5_answers.template.md")) ==
        "none of the 4 cells is filled in");
  numbers["stages"] = 5;
  CHECK(
      suggestion_for("a5.written_q3", numbers, text) ==
      "2 of 4 cells are as expected; messages of a batch: expected 64, found '48'; bytes of a batch: expected 1048576, "
      "found '786432'");
}

TEST_CASE("the template's questions are the rubric's, with the handout's numbers") {
  const std::string text = a9_file("written_answers_task1.template.md");
  for (const char* id : {"a9.written_q1", "a9.written_q2", "a9.written_q3"}) {
    const std::string question = question_with(a9_item(id), numbers_of(Rubric(), a9_item(id), "s1"));
    CHECK_MESSAGE(text.find(question) != std::string::npos, question);
  }
}

TEST_CASE("suggestions: the reference answers are as expected, in all cells") {
  const std::string answers = a9_file("answers/written_answers_task1.md");
  CHECK(suggested("a9.written_q1", answers) == "8 of 8 cells are as expected");
  CHECK(suggested("a9.written_q2", answers) == "7 of 7 cells are as expected");
  CHECK(suggested("a9.written_q3", answers) == "6 of 6 cells are as expected");
}

TEST_CASE("suggestions: an empty template, and no file at all") {
  const std::string empty = a9_file("written_answers_task1.template.md");
  CHECK(suggested("a9.written_q1", empty) == "none of the 8 cells is filled in");
  CHECK(suggested("a9.written_q2", empty) == "none of the 7 cells is filled in");
  CHECK(suggested("a9.written_q3", empty) == "none of the 6 cells is filled in");
  CHECK(suggested("a9.written_q3", "") == "no table found under Q3: read it yourself");
  CHECK(suggested("a9.schematic", empty).empty());
}

TEST_CASE("suggestions: the cell that differs is named") {
  const std::string answers = a9_file("answers/written_answers_task1.md");
  CHECK(suggested("a9.written_q1", with(answers, "| 2    | 20.0 ", "| 2 | 30.0 ")) ==
        "7 of 8 cells are as expected; rank 2, printed x: expected 20, found '30.0'");
  CHECK(suggested("a9.written_q2", with(answers, "| 6.0 ", "| 5 ")) ==
        "6 of 7 cells are as expected; after root 0 received from rank 2: expected 6, found '5'");
  CHECK(suggested("a9.written_q2", with(answers, "| 3    | 10.0 ", "| 3 | 4.0 ")) ==
        "6 of 7 cells are as expected; rank 3, final value: expected 10, found '4.0'");
  CHECK(suggested("a9.written_q3", with(answers, "| 0    | [6] ", "| 0 | [3, 2] ")) ==
        "5 of 6 cells are as expected; rank 0, shape of y: expected 6, found '[3, 2]'");
  CHECK(suggested("a9.written_q3", with(answers, "[0.0, 10.0, 1.0", "[0.0, 1.0, 10.0")) ==
        "5 of 6 cells are as expected; rank 0, content of y: expected 0 10 1 11 2 12, found '[0.0, 1.0, 10.0, 11.0, "
        "2.0, 12.0]'");
}

TEST_CASE("suggestions: only the first cells are named") {
  const std::string q1 = "## Q1\nrank|x|y\n0|10|10\n1|20|20\n2|30|30\n3|40|40\n";
  CHECK(
      suggested("a9.written_q1", q1) ==
      "2 of 8 cells are as expected; rank 0, printed x: expected 20, found '10'; rank 0, printed y: expected 20, found "
      "'10'; rank 2, printed x: expected 20, found '30'; and 3 more");
}

TEST_CASE("suggestions: another way of writing the same is the same") {
  CHECK(suggested("a9.written_q3",
                  "**q3**\n\nrank|shape|content\n-|-|-\nrank 0|(6,)|0 10 1 11 2 12\nrank 1|torch.Size([6])|"
                  "tensor([0.,10.,1.,11.,2.,12.])\nrank 2|6|[0,10,1,11,2,12]\n") == "6 of 6 cells are as expected");
  CHECK(suggested("a9.written_q2",
                  "Q2\n| from | sum |\n| 1 | 1 + 2 = 3 |\n| 2 | 3+3=6 |\n| 3 | 10 |\n\n| rank | final |\n| 0 | 10 |\n"
                  "| 1 | 10 |\n| 2 | 10 |\n| 3 | 10 |\n") == "7 of 7 cells are as expected");
}

TEST_CASE("suggestions: what a student's cell holds is quoted safely and briefly") {
  const std::string suggestion = suggested("a9.written_q1", "Q1\n0|\x1B[31m" + std::string(10000, 'x') + "|20\n");
  CHECK(suggestion.find('\x1B') == std::string::npos);
  CHECK(suggestion.size() < 400);
}

}  // namespace
}  // namespace lab::grading
