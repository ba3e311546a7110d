#include "common/course/hand_in/hand_in_names.h"
#include "common/testing/plain_test.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using testing::a5;
using testing::a9;
using Strings = std::vector<std::string>;

TEST_CASE("hand-in names: folders are resolved, and what may replace an answer is known") {
  const HandInNames names = hand_in_names(a9().rubric, a9().student_files);
  CHECK(names.sources == Strings{"student/allgather/ring.cpp", "student/broadcast/flat.cpp"});
  CHECK(names.answers == Strings{"drawing.png", "written.md"});
  CHECK(names.also == Strings{"drawing.pdf"});
  CHECK((names.is_answer("drawing.pdf") && names.is_answer("written.md") && !names.is_answer("other.md")));
}

TEST_CASE("hand-in names: a missing answer may be replaced by one of another kind, and by nothing else") {
  const Rubric a9_rubric = a9().rubric;
  CHECK(missing_answers(a9_rubric, {}) == Strings{"drawing.png", "written.md"});
  CHECK(missing_answers(a9_rubric, {"drawing.pdf", "written.md"}).empty());
  CHECK(missing_answers(a9_rubric, {"drawing.png", "written.md"}).empty());
  // A picture that belongs to the text does not replace it.
  CHECK(missing_answers(a5().rubric, {"sketch.png"}) == Strings{"a5_answers.md"});
}

}  // namespace
}  // namespace lab::grading
