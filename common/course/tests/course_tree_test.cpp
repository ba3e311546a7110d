#include "common/course/course_tree.h"

#include "common/course/student_files.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;
using testing::SampleTree;

TEST_CASE("labs and tasks are found by short names, and the nearest is named") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  CHECK(tree.lab_named("a0").lab == "a0_pipes");
  CHECK(tree.lab_named("a0_pipes").lab == "a0_pipes");
  CHECK(tree.task_named("a0.valve").task->id == "a0.valve");
  CHECK(tree.task_named("valve").task->id == "a0.valve");
  CHECK(get_message([&] { tree.task_named("valev"); }) == "unknown task 'valev'; did you mean 'valve'?");
  CHECK(get_message([&] { tree.task_named("a0.pip"); }) == "unknown task 'a0.pip'; did you mean 'a0.pipe'?");
  CHECK(get_message([&] { tree.lab_named("a0_pipe"); }) == "unknown lab 'a0_pipe'; did you mean 'a0_pipes'?");
  CHECK(get_message([&] { tree.lab_named("xyz"); }) == "unknown lab 'xyz'; expected one of a0");
}

TEST_CASE("a name that two labs know is refused") {
  const SampleTree sample;
  std::string other = testing::kSampleRubric;
  for (std::size_t at = other.find("a0"); at != std::string::npos; at = other.find("a0", at))
    other.replace(at, 2, "b0");
  sample.write("b0_pipes/rubric.toml", other);
  const CourseTree tree = sample.load();
  CHECK(tree.labs().size() == 2);
  CHECK(contains(get_message([&] { tree.task_named("valve"); }), "expected one of: a0.valve b0.valve"));
  CHECK(tree.task_named("b0.valve").lab->lab == "b0_pipes");
}

TEST_CASE("a folder without labs is refused") {
  CHECK(contains(get_message([] { CourseTree::load("/nowhere"); }), "expected the root folder of the labs"));
}

TEST_CASE("the files of a task are those of its needs as well, and an edit shows") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  const TaskOfLab valve = tree.task_named("valve"), tap = tree.task_named("tap");
  CHECK(files_of_task(tree, valve) == std::vector<std::string>{"student/pipes/pipe.cpp", "student/pipes/valve.cpp"});
  CHECK(files_of_task(tree, tap) == std::vector<std::string>{"student/tap.cpp"});
  sample.write("a0_pipes/student/pipes/.hidden", "x");
  sample.write("a0_pipes/student/pipes/pipe.cpp.new", "x");
  CHECK(student_files(tree, *tap.lab).size() == 3);
  const std::string before = fingerprint_of_task(tree, valve), before_tap = fingerprint_of_task(tree, tap);
  sample.write("a0_pipes/student/pipes/pipe.cpp", "other");
  CHECK(fingerprint_of_task(tree, valve) != before);
  CHECK(fingerprint_of_task(tree, tap) == before_tap);
}

TEST_CASE("an edit after a check began is seen") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  sample.write("began", "");
  sample.make_later("began", 10);
  CHECK_FALSE(changed_after(tree, tree.task_named("valve"), sample.path("began")));
  sample.make_later("a0_pipes/student/pipes/pipe.cpp", 20);
  CHECK(changed_after(tree, tree.task_named("valve"), sample.path("began")));
  CHECK_FALSE(changed_after(tree, tree.task_named("tap"), sample.path("began")));
}

}  // namespace
}  // namespace lab
