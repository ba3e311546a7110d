#include "grading/batch/class_overview.h"

#include "common/testing/plain_test.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using testing::a_task;
using testing::judged;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A class of hand-ins of one lab: two tasks of 10 marks, the second with two checks.
struct SmallClass {
  Rubric rubric;
  std::vector<MarkedStudent> students;
  ClassOverview overview;

  SmallClass() {
    rubric.lab = "a9_collectives";
    rubric.tasks = {a_task("a9.easy", 10), a_task("a9.hard", 10)};
    rubric.total = 20;
  }
  void add(const std::string& who, Worth easy, Worth hard, double seconds = 10) {
    LabOutcome outcome = testing::make_outcome({judged("a9.easy", {easy}), judged("a9.hard", {Worth::kPassed, hard})});
    if (hard == Worth::kFailed) outcome.tasks["a9.hard"].checks[1].symptom.message = "the <sum> is divided";
    outcome.seconds = seconds;
    MarkedStudent& student = students.emplace_back();
    student.who = who;
    student.identity.name = "Name of " + who;
    student.labs[rubric.lab] = compute_marks(rubric, outcome, {});
    overview.add(who, student.labs[rubric.lab], outcome);
  }
  std::string page(const std::string& similarity = "") const {
    return overview.html(nullptr, students, {rubric.lab}, similarity);
  }
};

TEST_CASE("an overview counts marks, tasks, checks and causes, the hardest first") {
  SmallClass some;
  some.add("ada", Worth::kPassed, Worth::kPassed);
  some.add("bob", Worth::kPassed, Worth::kFailed);
  some.add("eve", Worth::kFailed, Worth::kFailed);
  const std::string page = some.page();
  for (const char* part : {"A class of 3 students", "3 of 3 students; mean 13.3, median 15 of 20", "from 70 %: 1",
                           "from all: 1", "from 20 %: 1", "the &lt;sum&gt; is divided", "a9.hard.Check1",
                           "ada/a9_collectives/report.html", "Name of eve"}) {
    INFO(part);
    CHECK(has(page, part));
  }
  CHECK(page.find("Title of a9.easy") < page.find("Title of a9.hard"));  // 2 of 3 of the marks, and 2 of 3
  CHECK(has(page, "<td class=\"number\">2 of 3</td>"));                  // a9.hard.Check1
  CHECK_FALSE(has(page, "similar"));
  CHECK(has(some.page("similarity/index.html"), "href=\"similarity/index.html\""));
}

TEST_CASE("a task with many checks leaves room for those of others") {
  SmallClass some;
  for (int i = 0; i < 20; ++i) some.add(std::to_string(i), i == 0 ? Worth::kFailed : Worth::kPassed, Worth::kPassed);
  LabOutcome outcome = testing::make_outcome({judged("a9.hard", std::vector<Worth>(30, Worth::kFailed))});
  for (const char* who : {"ada", "bob"}) some.overview.add(who, compute_marks(some.rubric, outcome, {}), outcome);
  const std::string page = some.page();
  CHECK(has(page, "a9.hard.Check10"));  // the third by name
  CHECK_FALSE(has(page, "a9.hard.Check2"));
  CHECK(has(page, "a9.easy.Check0"));
  CHECK(page.find("a9.hard.Check10") < page.find("a9.easy.Check0"));
}

TEST_CASE("a hand-in of a group counts once, for each of its students") {
  SmallClass some;
  some.add("pair", Worth::kFailed, Worth::kPassed);
  some.add("pair", Worth::kFailed, Worth::kPassed);
  const std::string page = some.page();
  CHECK(has(page, "2 of 2 students"));
  CHECK(has(page, "1 graded lab in all"));
  CHECK(has(page, "<td class=\"number\">1 of 1</td>"));
}

TEST_CASE("who stands out: slow to judge, or unlike in the other labs") {
  SmallClass some;
  for (const char* who : {"a", "b", "c"}) some.add(who, Worth::kPassed, Worth::kPassed);
  CHECK_FALSE(has(some.page(), "Outliers"));
  some.add("slow", Worth::kPassed, Worth::kPassed, 100);
  CHECK(has(some.page(), "judging a9_collectives took 100 s, where 10 s is usual"));
  LabMarks other;
  other.lab = "a4_data_tensor";
  other.total = 10;
  some.students[0].labs[other.lab] = other;
  const std::string unlike = some.overview.html(nullptr, some.students, {"a9_collectives"}, "");
  CHECK(has(unlike, "0 % of a4_data_tensor, but 100 % of the other labs"));
  CHECK(has(unlike, "100 % of a9_collectives, but 0 % of the other labs"));
}

TEST_CASE("names from students are text, also in a link") {
  SmallClass some;
  some.add("\"><script>", Worth::kPassed, Worth::kPassed);
  some.students[0].remarks = {"<b>\x1b[2J"};
  const std::string page = some.page();
  CHECK(has(page, "href=\"%22%3E%3Cscript%3E/a9_collectives/report.html\""));
  CHECK_FALSE(has(page, "<b>"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK_FALSE(has(page, "\"><script>"));
}

TEST_CASE("a class without any result has a page, too; one of 200 stays below two million bytes") {
  CHECK(has(SmallClass().page(), "A class of 0 students"));
  SmallClass large;
  for (int i = 0; i < 200; ++i)
    large.add("student" + std::to_string(i), Worth::kPassed, i % 3 == 0 ? Worth::kFailed : Worth::kPassed);
  for (MarkedStudent& student : large.students) student.remarks.assign(100, std::string(1000, 'x'));
  CHECK(large.page().size() < 2'000'000);
}

}  // namespace
}  // namespace lab::grading
