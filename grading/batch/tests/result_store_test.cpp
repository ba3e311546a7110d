#include "grading/batch/result_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/batch/judging_part.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using testing::a_manual;
using testing::a_task;

StoredResult result(const std::string& who, const std::string& lab, const std::string& outcome) {
  return {who, lab, who + ".zip", "v1", "j1", outcome};
}

TEST_CASE("stored results are there again, the last of each lab of each student") {
  const TemporaryFolder folder;
  const std::string path = folder.file("results.sqlite");
  {
    ResultStore store(path);
    CHECK_FALSE(store.note("seed"));
    store.set_note("seed", "17");
    store.keep({result("alice", "a4", "old"), result("alice", "a9", "'; DROP TABLE result; --")});
    store.keep({result("alice", "a4", "new"), result("bob", "a4", "b")});
  }
  const ResultStore store(path);
  CHECK(store.note("seed") == "17");
  CHECK(store.find("alice", "a4")->outcome == "new");
  CHECK(store.find("alice", "a9")->outcome == "'; DROP TABLE result; --");
  CHECK_FALSE(store.find("bob", "a9"));
  std::string all;
  for (const StoredResult& one : store.all_without_outcomes()) all += one.who + " " + one.lab + one.outcome + ";";
  CHECK(all == "alice a4;alice a9;bob a4;");
}

TEST_CASE("a process that is killed leaves what it has kept, and nothing half") {
  const TemporaryFolder folder;
  const std::string path = folder.file("results.sqlite");
  const pid_t child = ::fork();
  if (child == 0) {
    ResultStore store(path);
    for (int i = 0;; ++i) {
      store.keep({result("s" + std::to_string(i), "a4", "x"), result("s" + std::to_string(i), "a9", "x")});
      if (i == 5) ::kill(::getpid(), SIGKILL);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(ResultStore(path).all_without_outcomes().size() == 12);
}

TEST_CASE("a file that is not a result store is refused and left unchanged") {
  const TemporaryFolder folder;
  const std::string path = folder.file("results.sqlite");
  lab::testing::write_bytes(path, "marks of last year, by hand\n" + std::string(2000, 'x'));
  CHECK_THROWS_AS(ResultStore{path}, UsageError);
  CHECK(lab::testing::read_bytes(path).substr(0, 5) == "marks");
  CHECK_THROWS_AS(ResultStore(folder.file("no/such/folder.sqlite")), UsageError);
}

TEST_CASE("results of an earlier format are refused, with what to type, and left unchanged") {
  const TemporaryFolder folder;
  const std::string path = folder.file("results.sqlite");
  ResultStore{path};
  std::string bytes = lab::testing::read_bytes(path);
  bytes.at(63) = 1;  // SQLite's user_version
  lab::testing::write_bytes(path, bytes);
  CHECK(lab::testing::get_message([&] { ResultStore{path}; }) ==
        path +
            ": expected results in format 2, got 1: another version of this suite wrote it; hint: grade into another "
            "folder with --out, or rm '" +
            path + "' and grade all again");
  CHECK(lab::testing::read_bytes(path) == bytes);
}

TEST_CASE("a second grading of the same class is refused while the first is at work") {
  const TemporaryFolder folder;
  ResultStore first(folder.file("results.sqlite"));
  first.set_note("seed", "1");
  CHECK_THROWS_AS(ResultStore(folder.file("results.sqlite")), UsageError);
}

/// Whether a change of a rubric judges its lab again.
bool judges_again(const std::function<void(Rubric&)>& change) {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.tasks = {a_task("a9.x", 10), a_task("a9.y", 10, {"a9.x"})};
  rubric.tasks[1].stand_in = {"student/x.cpp"};
  rubric.manuals = {a_manual("a9.q", 5, "answers.md")};
  rubric.ladders = {{"a9.ladder", "Steps", 4, {{4, "all", {"a9.x"}, {}}}}};
  rubric.bonuses = {{"a9.bonus", "Bonus", 1, {"a9.y"}, {}}};
  rubric.hand_in.sources = {"student/x.cpp"};
  const std::string before = judging_part(rubric);
  change(rubric);
  return judging_part(rubric) != before;
}

TEST_CASE("what changes marks, or who sees them, judges nothing again") {
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].marks = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].bonus = true; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].all_or_nothing = true; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.tasks[0].visibility = Visibility::kHidden; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.manuals[0].marks = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.ladders[0].total = 7; }));
  CHECK_FALSE(judges_again([](Rubric& rubric) { rubric.bonuses[0].needs = {"a9.x"}; }));
}

TEST_CASE("what judging depends on judges the lab again") {
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].needs.clear(); }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].stand_in.clear(); }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].judges_cost = {"student/x.cpp"}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.tasks[1].file = "student/z.cpp"; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.ranks = {4}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.cheap_ranks = {2}; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.stall_seconds = 20; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.judging.budget_seconds = 20; }));
  CHECK(judges_again([](Rubric& rubric) { rubric.hand_in.answers = {"a.log"}; }));
}

}  // namespace
}  // namespace lab::grading
