#include <cstdlib>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/starter/what_to_read.h"
#include "common/course/student_files.h"
#include "common/course/task_progress.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::SampleTree;

using State = TaskProgress::State;

void set_solved(const CourseTree& tree, const std::string& task, ProgressFile& progress) {
  progress.set(task, {State::kSolved, "2026-11-22", fingerprint_of_task(tree, tree.task_named(task)), 0});
}

std::string next_text(const CourseTree& tree, const ProgressFile& progress) {
  return next_task_text(tree, {&tree.labs().front()}, progress);
}

TEST_CASE("the next task, where it is edited, what to read and how to check it") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  CHECK(next_text(tree, {}) == R"(a0_pipes: 0 of 3 tasks solved
next: a0.pipe: A pipe (4 marks)
  edit   a0_pipes/student/pipes/pipe.cpp:2  its TODO
  read   a0_pipes/README.md:7  "How a pipe is laid"
         a0_pipes/pipe.h
  check  ./lab check a0.pipe
  stuck? ./lab hint a0.pipe
)");
}

TEST_CASE("a task waits for those that it needs") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  ProgressFile progress;
  progress.set("a0.pipe", {State::kWrong, "2026-11-21", "x", 0});
  CHECK(contains(next_text(tree, progress), "next: a0.pipe"));
  CHECK(contains(next_text(tree, progress), "so far it was wrong, on 2026-11-21"));
  set_solved(tree, "a0.tap", progress);
  CHECK(contains(next_text(tree, progress), "next: a0.pipe"));
  set_solved(tree, "a0.pipe", progress);
  CHECK(contains(next_text(tree, progress), "a0_pipes: 2 of 3 tasks solved\nnext: a0.valve"));
}

TEST_CASE("a solved task whose files have changed is to be checked again") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  ProgressFile progress;
  for (const std::string task : {"a0.pipe", "a0.valve", "a0.tap"}) set_solved(tree, task, progress);
  CHECK(contains(next_text(tree, progress), "every task of a0_pipes is solved"));
  CHECK(contains(next_text(tree, progress), "./lab submit a0\n"));
  sample.write("a0_pipes/student/pipes/pipe.cpp", "other");
  CHECK(next_text(tree, progress) ==
        "files have changed since these were solved; check again: ./lab check a0.pipe a0.valve\n");
  CHECK(contains(status_text(tree, {&tree.labs().front()}, progress), "again   2026-11-22 a0.pipe: A pipe (4 marks)"));
  CHECK(contains(status_text(tree, {&tree.labs().front()}, progress), "solved  2026-11-22 a0.tap: A tap (bonus, 2"));
}

TEST_CASE("what explains a task is the heading that its rubric names, or its own question") {
  const std::string readme = testing::kSampleReadme;
  RubricTask task;
  task.title = "Valves of brass";
  CHECK(line_about(readme, task) == 0);
  task.read = "Valves";
  const std::size_t line = line_about(readme, task);
  CHECK(list_lines(readme).at(line - 1) == "## Valves\n");
  task.read = "Boilers";
  CHECK(line_about(readme, task) == 0);
  task.title = "Q2: boilers";
  CHECK(line_about(readme + "\n- **Q2.** Heat.\n", task) == list_lines(readme).size() + 2);
}

TEST_CASE("every task of the labs names a section that is there") {
  const CourseTree tree = CourseTree::load(std::getenv("LAB_SOURCE_DIR"));
  for (const Rubric& lab : tree.labs()) {
    const std::string readme = read_file(tree.get_folder(lab) + "/README.md");
    CHECK_NOTHROW(require_sections(lab, readme));
    for (const RubricTask& task : lab.tasks) {
      CAPTURE(task.id);
      CHECK(line_about(readme, task) > 0);
    }
  }
}

TEST_CASE("a misspelt section is said, also where a question would be found without it") {
  const SampleTree sample;
  Rubric lab = sample.load().labs().front();
  const auto refusal = [&] { return testing::get_message([&] { require_sections(lab, testing::kSampleReadme); }); };
  CHECK_NOTHROW(require_sections(lab, testing::kSampleReadme));
  lab.tasks[1].read = "Vallves";
  lab.tasks[1].title = "Q2: a valve";
  CHECK(refusal() ==
        "a0_pipes/rubric.toml: a0.valve: read: README.md has no section 'Vallves'; did you mean 'Valves'?");
  lab.tasks[1].read = "A pipe has two ends.";  // words of the README that are not a heading
  CHECK(testing::contains(refusal(), "has no section 'A pipe has two ends.'"));
}

TEST_CASE("a TODO is found in another file of the lab, and its absence is no error") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  CHECK(to_text(place_to_edit(tree, tree.task_named("tap"))) == "a0_pipes/student/pipes/valve.cpp:9");
  sample.write("a0_pipes/student/pipes/pipe.cpp", "done\n");
  CHECK(to_text(place_to_edit(tree, tree.task_named("pipe"))) == "a0_pipes/student/pipes/pipe.cpp");
  CHECK(list_contracts(tree, tree.task_named("pipe")).empty());
}

}  // namespace
}  // namespace lab
