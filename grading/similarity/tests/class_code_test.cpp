#include "grading/similarity/class_code.h"

#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading;

PlannedHandIn by(const std::string& who, const std::vector<Student>& students, std::vector<std::size_t> rows = {}) {
  PlannedHandIn one;
  one.who = who;
  one.hand_in.students = students;
  one.roster_rows = std::move(rows);
  return one;
}

}  // namespace

TEST_CASE("class code: hand-ins with a student in common are not those of two students") {
  const PlannedHandIn ada = by("s1", {{"4711", "Ada", ""}});
  CHECK_FALSE(have_common_student(ada, by("s2", {{"4712", "Ada", ""}})));
  CHECK_FALSE(have_common_student(by("a", {}), by("b", {})));
  CHECK_FALSE(have_common_student(by("a", {{"", "", ""}}), by("b", {{"", "", ""}})));
  CHECK(have_common_student(ada, by("s1", {})));
  CHECK(have_common_student(ada, by("group", {{"4712", "Bea", ""}, {"4711", "Ada", ""}})));
  CHECK(have_common_student(by("a", {{"", "A", "a@x"}}), by("b", {{"", "Ada", "a@x"}})));
  CHECK(have_common_student(by("a", {{"", "Ada", ""}}), by("b", {{"7", "Ada", ""}})));
  CHECK(have_common_student(by("a", {}, {3, 4}), by("b", {}, {4})));
  CHECK_FALSE(have_common_student(by("a", {}, {3}), by("b", {}, {4})));
}
