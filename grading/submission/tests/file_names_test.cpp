#include "grading/submission/file_names.h"

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("misnamed files: the same name elsewhere, in another case, or nearly") {
  const std::vector<std::string> missing = {"student/allgather/ring.cpp", "student/allreduce/ring.cpp",
                                            "student/broadcast/flat.cpp", "written.md"};
  CHECK(meant_file("student/Ring.cpp", missing).value_or("") == "student/allgather/ring.cpp");
  CHECK(meant_file("student/allredcue/ring.cpp", missing).value_or("") == "student/allreduce/ring.cpp");
  CHECK(meant_file("flat.cpp", missing).value_or("") == "student/broadcast/flat.cpp");
  CHECK(meant_file("answers/Written.md", missing).value_or("") == "written.md");
  CHECK(meant_file("writen.md", missing).value_or("") == "written.md");
  CHECK_FALSE(meant_file("cases.cpp", missing).has_value());
  CHECK_FALSE(meant_file("flat.cpp", {}).has_value());
  CHECK(meant_file(std::string(10000, 'x') + "/flat.cpp", missing).value_or("") == "student/broadcast/flat.cpp");
  CHECK_FALSE(meant_file(std::string(100000, 'x'), {std::string(100000, 'y')}).has_value());
}

}  // namespace
}  // namespace lab::grading
