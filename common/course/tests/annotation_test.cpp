#include "common/course/annotation.h"

#include "common/api/errors.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/plain_test.h"

namespace lab::testing {
namespace {

TEST_CASE("an annotation is one command, whatever its values hold") {
  CHECK(to_text(Annotation{"a0/x.cpp", 21, "a0.x: One", "expected 1, got 2: 50%"}) ==
        "::error file=a0/x.cpp,line=21,title=a0.x%3A One::expected 1, got 2: 50%25\n");
  CHECK(to_text(Annotation{"", 0, "a0", "not built"}) == "::error title=a0::not built\n");
  CHECK(to_text(Annotation{"a,b:c%.cpp", 0, "x\n::warning::y", "m\r\n::set-env name=X::y\x1b[31m"}) ==
        "::error file=a%2Cb%3Ac%25.cpp,title=x %3A%3Awarning%3A%3Ay::m ::set-env name=X::y [31m\n");
  CHECK(to_text(Annotation{"f", 1, "t", std::string(100'000, 'x')}).size() < 1200);
}

constexpr char kResults[] = R"json([
  {"task": "a0.pipe", "todo": true, "message": "not implemented: stops at TODO(a0.pipe)",
               "checks" : []
},
  {"task": "a0.tap", "todo": false, "message": "0 of 4 checks right on 2 ranks", "checks": [
    {"name": "Right", "passed": true, "skipped": false, "message": "", "likely": ""},
    {"name": "Skipped", "passed": false, "skipped": true, "message": "too few", "likely": ""},
    {"name": "Wrong", "passed": false, "skipped": false, "message": "rank 0: expected 1", "likely": "a zero"},
    {"name": "Threw", "passed": false, "skipped": false,
     "message": "rank 1: student/none.cpp:3, student/x: student/pipes/valve.cpp:9: too wet", "likely": ""}]},
  {"task": "a0.unknown", "todo": true, "message": "not implemented", "checks": []}])json";

TEST_CASE("annotations: where the code threw, at the TODO, or at the task's file") {
  const SampleTree sample;
  std::string text;
  for (const Annotation& one : list_annotations(kResults, "x.json", sample.load(), "course/")) text += to_text(one);
  CHECK(text ==
        "::error file=course/a0_pipes/student/pipes/pipe.cpp,line=2,title=a0.pipe::not implemented: stops at "
        "TODO(a0.pipe)\n"
        "::error file=course/a0_pipes/student/pipes/valve.cpp,line=9,title=a0.tap%3A Wrong::rank 0: expected 1; "
        "likely: a zero\n"
        "::error file=course/a0_pipes/student/pipes/valve.cpp,line=9,title=a0.tap%3A Threw::rank 1: "
        "student/none.cpp:3, student/x: student/pipes/valve.cpp:9: too wet\n"
        "::error title=a0.unknown::not implemented\n");
  sample.write("a0_pipes/student/pipes/valve.cpp", "int open_valve(int);\n");
  CHECK(list_annotations(kResults, "x.json", sample.load())[1].file == "a0_pipes/student/tap.cpp");
  CHECK(list_annotations(kResults, "x.json", sample.load())[1].line == 0);
  for (const char* wrong : {"", "{", "[1]", "[{\"task\": \"a0.pipe\"}]", "[{\"task\": 1}]"})
    CHECK_THROWS_AS(list_annotations(wrong, "x.json", sample.load()), UsageError);
}

}  // namespace
}  // namespace lab::testing
