#include "grading/submission/hand_in.h"

#include "common/testing/plain_test.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using testing::a5;
using testing::a9;
using Words = std::vector<std::string>;

TEST_CASE("hand-in names: folders are resolved, and what may replace an answer is known") {
  const HandInNames names = hand_in_names(a9());
  CHECK(names.sources == Words{"student/allgather/ring.cpp", "student/broadcast/flat.cpp"});
  CHECK(names.answers == std::set<std::string>{"drawing.pdf", "drawing.png", "written.md"});
}

TEST_CASE("hand-in names: a missing answer may be replaced by one of another kind") {
  CHECK(missing_answers(a9(), {}) == Words{"drawing.png", "written.md"});
  CHECK(missing_answers(a9(), {"drawing.pdf", "written.md"}).empty());
  CHECK(missing_answers(a9(), {"drawing.png", "written.md"}).empty());
  // A picture that belongs to the words does not replace them.
  CHECK(missing_answers(a5(), {"sketch.png"}) == Words{"a5_answers.md"});
}

}  // namespace
}  // namespace lab::grading
