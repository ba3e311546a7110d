#include "common/course/file_watch.h"

#include "common/course/tests/sample_tree.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::SampleTree;

std::vector<std::string> list_ids(const std::vector<TaskOfLab>& tasks) {
  std::vector<std::string> ids;
  for (const TaskOfLab& task : tasks) ids.push_back(task.task->id);
  return ids;
}

TEST_CASE("saved, new and removed files are seen, and nothing else") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  const std::vector<const Rubric*> labs = {&tree.labs().front()};
  const FileTimes before = file_times(tree, labs);
  CHECK(before.size() == 3);
  CHECK(changed_files(before, file_times(tree, labs)).empty());
  CHECK(parse_file_times(to_text(before)) == before);
  sample.make_later("a0_pipes/student/tap.cpp", 1);
  sample.make_later("a0_pipes/pipe.h", 1);
  CHECK(changed_files(before, file_times(tree, labs)) == std::vector<std::string>{"a0_pipes/student/tap.cpp"});
  sample.write("a0_pipes/student/pipes/more.cpp", "x");
  std::filesystem::remove(sample.path("a0_pipes/student/pipes/pipe.cpp"));
  CHECK(changed_files(before, file_times(tree, labs)).size() == 3);
}

TEST_CASE("the tasks of a file are its own, then its neighbours', then the lab's") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  using Ids = std::vector<std::string>;
  CHECK(list_ids(tasks_of_files(tree, {"a0_pipes/student/tap.cpp"})) == Ids{"a0.tap"});
  CHECK(list_ids(tasks_of_files(tree, {"a0_pipes/student/pipes/more.cpp"})) == Ids{"a0.pipe", "a0.valve"});
  CHECK(list_ids(tasks_of_files(tree, {"a0_pipes/student/deep/er/x.cpp"})).size() == 3);
  CHECK(list_ids(tasks_of_files(tree, {"a0_pipes/student/tap.cpp", "a0_pipes/student/tap.cpp"})).size() == 1);
  CHECK(tasks_of_files(tree, {"b0_other/student/x.cpp"}).empty());
}

}  // namespace
}  // namespace lab
