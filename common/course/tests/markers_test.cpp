#include "common/course/starter/markers.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;

const char* const kSource = R"(int before;
int solve(int x) {
  // BEGIN SOLUTION a0.solve
  // STUB // TODO(a0.solve): return twice x.
  // STUB
  // STUB lab::not_implemented("a0.solve", x);
  return 2 * x;
  // END SOLUTION a0.solve
}
)";

std::string marker_refusal(const std::string& text) {
  return testing::get_message<UsageError>([&] { parse_solution_markers(text); });
}

TEST_CASE("a region splits into stub and solution") {
  const auto parts = parse_solution_markers(kSource);
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].task == "a0.solve");
  CHECK(parts[1].lines == std::vector<std::string>{"  return 2 * x;\n"});
  CHECK(join_reference(parts) == kSource);
  CHECK(join_starter(parts) == R"(int before;
int solve(int x) {
  // TODO(a0.solve): return twice x.

  lab::not_implemented("a0.solve", x);
}
)");
}

TEST_CASE("a given task's solution is in the starter") {
  const auto parts = parse_solution_markers(kSource);
  CHECK(join_starter(parts, {"a0.other"}) == join_starter(parts));
  CHECK(join_starter(parts, {"a0.solve"}) == "int before;\nint solve(int x) {\n  return 2 * x;\n}\n");
}

TEST_CASE("Markdown and TOML have markers, too") {
  const std::string markdown =
      "# Q1\n<!-- BEGIN SOLUTION a0.q1 -->\n<!-- STUB Your answer. -->\nForty-two.\n<!-- END SOLUTION a0.q1 -->\n";
  CHECK(join_starter(parse_solution_markers(markdown)) == "# Q1\nYour answer.\n");
  const std::string toml = "a = 1\n# BEGIN SOLUTION a0.t\n# STUB b = 0\nb = 2\n# END SOLUTION a0.t\nc = 3";
  CHECK(join_starter(parse_solution_markers(toml)) == "a = 1\nb = 0\nc = 3");
  CHECK(join_reference(parse_solution_markers(toml)) == toml);
}

TEST_CASE("text without markers is one part, empty text none") {
  CHECK(parse_solution_markers("").empty());
  CHECK(parse_solution_markers("a\nb").size() == 1);
  CHECK(join_starter(parse_solution_markers("// BEGINNING\n")) == "// BEGINNING\n");
}

TEST_CASE("what breaks the grammar is refused with its line") {
  const std::string begin = "// BEGIN SOLUTION a0.x\n";
  const std::string stub = "// STUB x;\n";
  const std::string end = "// END SOLUTION a0.x\n";
  CHECK(marker_refusal(begin + stub + "y;\n" + end) == "nothing was thrown");
  CHECK(contains(marker_refusal(begin + stub + begin), "line 3"));
  CHECK(marker_refusal("y;\n" + end).find("line 2: END SOLUTION without a beginning") != std::string::npos);
  CHECK(contains(marker_refusal(begin + stub + "// END SOLUTION a0.y\n"), "expected END SOLUTION a0.x, got a0.y"));
  CHECK(marker_refusal(begin + stub + "y;\n").find("has no end") != std::string::npos);
  CHECK(contains(marker_refusal(stub), "line 1: a STUB line"));
  CHECK(marker_refusal(begin + "y;\n" + stub + end).find("line 3: a STUB line") != std::string::npos);
  CHECK(contains(marker_refusal("// BEGIN SOLUTION\n"), "expected a task id"));
  CHECK(contains(marker_refusal("// BEGIN SOLUTION a0.x a0.y\n"), "expected a task id"));
  CHECK(marker_refusal(begin + "y;\n" + end).find("has no STUB line") != std::string::npos);
}

}  // namespace
}  // namespace lab
