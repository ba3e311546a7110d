#include "common/course/task_progress.h"

#include "common/course/student_files.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;
using testing::SampleTree;

using State = TaskProgress::State;

TEST_CASE("what is written comes back, and no file is no memory") {
  const SampleTree sample;
  ProgressFile progress = ProgressFile::load(sample.root());
  CHECK(progress.of("a0.pipe").state == State::kUnknown);
  progress.set("a0.pipe", {State::kSolved, "2026-11-22", "12-0abc", 2});
  progress.set("a0.tap", {State::kUnknown, "", "", 1});
  progress.save();
  CHECK(contains(sample.read(".lab-progress"), "a0.pipe  solved  2026-11-22  12-0abc"));
  const ProgressFile again = ProgressFile::load(sample.root());
  CHECK(again.of("a0.pipe").state == State::kSolved);
  CHECK(again.of("a0.pipe").fingerprint == "12-0abc");
  CHECK(again.of("a0.pipe").hints == 2);
  CHECK(again.of("a0.tap").hints == 1);
  CHECK(again.of("a0.tap").date.empty());
}

TEST_CASE("a file edited by hand is read; a line that is none of it is refused with its number") {
  const SampleTree sample;
  sample.write(".lab-progress", "# words\n\n  a0.pipe solved - - 0\r\nb9.other todo 2026-01-01 x 3\n");
  ProgressFile progress = ProgressFile::load(sample.root());
  CHECK(progress.of("a0.pipe").state == State::kSolved);
  CHECK(progress.of("b9.other").hints == 3);
  progress.save();  // tasks of labs that are not in the tree stay
  CHECK(ProgressFile::load(sample.root()).of("b9.other").state == State::kToDo);
  for (const std::string line : {"a0.pipe done - - 0", "a0.pipe solved - -", "a0.pipe solved - - 4",
                                 "a0.pipe solved - - 0 more", "a0.tap solved - - 0"}) {
    CAPTURE(line);
    sample.write(".lab-progress", "# words\na0.tap - - - 0\n" + line + "\n");
    CHECK(contains(get_message([&] { ProgressFile::load(sample.root()); }), ".lab-progress:3: expected a task"));
  }
}

TEST_CASE("results of a check are remembered with the files they are about") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  sample.write("results.json", R"([
    {"task": "a0.pipe", "passed": true, "skipped": false, "exit_code": 0, "message": "3 of 3", "checks": []},
    {"task": "a0.valve", "passed": false, "skipped": false, "exit_code": 1, "message": "", "checks": []},
    {"task": "a0.tap", "passed": false, "skipped": false, "exit_code": 3, "message": "", "checks": []},
    {"task": "a0.unknown", "passed": true, "skipped": false, "exit_code": 0, "message": "", "checks": []}])");
  ProgressFile progress = ProgressFile::load(sample.root());
  progress.set("a0.pipe", {State::kUnknown, "", "", 2});
  remember(read_check_results(sample.path("results.json")), tree, progress);
  CHECK(progress.of("a0.pipe").state == State::kSolved);
  CHECK(progress.of("a0.pipe").hints == 2);
  CHECK(progress.of("a0.pipe").date == today());
  CHECK(progress.of("a0.pipe").fingerprint == fingerprint_of_task(tree, tree.task_named("pipe")));
  CHECK(progress.of("a0.valve").state == State::kWrong);
  CHECK(progress.of("a0.tap").state == State::kToDo);
  CHECK(progress.of("a0.unknown").state == State::kUnknown);

  sample.write(
      "results.json",
      R"([{"task": "a0.pipe", "passed": false, "skipped": true, "exit_code": 0, "message": "", "checks": []}])");
  remember(read_check_results(sample.path("results.json")), tree, progress);
  CHECK(progress.of("a0.pipe").state == State::kSolved);
}

TEST_CASE("what is no result of a check is refused") {
  const SampleTree sample;
  for (const std::string text : {"", "[{]", "{\"task\": 1}", "[{\"task\": \"a0.pipe\"}]", "[1]"}) {
    CAPTURE(text);
    sample.write("results.json", text);
    CHECK(contains(get_message([&] { read_check_results(sample.path("results.json")); }),
                   "expected the JSON of a lab's check in "));
  }
}

}  // namespace
}  // namespace lab
