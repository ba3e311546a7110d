#include "grading/judge/stand_ins.h"

#include <algorithm>
#include <utility>

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using CheckState = CheckOutcome::State;
using Files = std::set<std::string>;

RubricTask task_of(const std::string& id, const std::string& file, std::vector<std::string> needs = {},
                   std::vector<std::string> stand_in = {}) {
  RubricTask task;
  task.id = id;
  task.file = file;
  task.needs = std::move(needs);
  task.stand_in = std::move(stand_in);
  return task;
}

TaskOutcome outcome_of(const std::string& id, CheckState state) {
  TaskOutcome outcome;
  outcome.id = id;
  outcome.state = TaskOutcome::State::kJudged;
  outcome.checks = {{"First", CheckState::kPassed, "", ""}, {"Second", state, "on 4 ranks: no", ""}};
  return outcome;
}

/// "norm" and "conv" have a file each; "block" builds on both, and "whole" is about the files of "block" and "end".
struct SmallLab {
  Rubric rubric;
  LabOutcome outcome;
  Files unwritten;
  /// With the reference in place of these, "block" and "whole" pass.
  std::vector<Files> cures;
  bool machine_fails = false;
  std::vector<std::pair<std::string, Files>> tried;

  SmallLab() {
    rubric.tasks = {
        task_of("x.norm", "student/norm.cpp"), task_of("x.conv", "student/conv"),
        task_of("x.block", "student/blocks/block.cpp", {"x.norm", "x.conv"}, {"student/norm.cpp", "student/conv"}),
        task_of("x.end", "student/blocks/end.cpp"),
        task_of("x.whole", "student/blocks", {"x.block", "x.end"},
                {"student/norm.cpp", "student/blocks/block.cpp", "student/blocks/end.cpp"})};
    for (const RubricTask& task : rubric.tasks) set(task.id, CheckState::kPassed);
  }

  void set(const std::string& id, CheckState state) { outcome.tasks[id] = outcome_of(id, state); }

  void apply() {
    StandIns stand_ins{rubric,
                       {"student/norm.cpp", "student/conv/a.cpp", "student/conv/b.cpp", "student/blocks/block.cpp",
                        "student/blocks/end.cpp"},
                       [&](const std::string& file) { return unwritten.count(file) == 0; },
                       [&](const std::string& id, const Files& reference, const TaskOutcome&) {
                         tried.emplace_back(id, reference);
                         const bool cured = std::any_of(cures.begin(), cures.end(), [&](const Files& cure) {
                           return std::includes(reference.begin(), reference.end(), cure.begin(), cure.end());
                         });
                         if (machine_fails) {
                           TaskOutcome nothing;
                           nothing.state = TaskOutcome::State::kNotJudged;
                           return nothing;
                         }
                         return outcome_of(id, cured ? CheckState::kPassed : CheckState::kFailed);
                       }};
    std::vector<std::string> tasks;
    for (const RubricTask& task : rubric.tasks) tasks.push_back(task.id);
    stand_ins.apply(tasks, outcome);
  }

  const TaskOutcome& at(const std::string& id) const { return outcome.tasks.at(id); }
};

TEST_CASE("what passes by itself is not judged again") {
  SmallLab lab;
  lab.apply();
  CHECK(lab.tried.empty());
}

TEST_CASE("a task that failed with a need is judged with the reference in its place, and says so") {
  SmallLab lab;
  lab.set("x.conv", CheckState::kFailed);
  lab.set("x.block", CheckState::kFailed);
  lab.cures = {{"student/conv/a.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in == "the reference in place of student/norm.cpp, student/conv, since x.conv failed");
  CHECK_FALSE(lab.at("x.conv").passed());
  CHECK(lab.at("x.conv").checks.size() == 2);  // it has failed already: nothing is added
}

TEST_CASE("a part that is right by itself and only too expensive costs nothing, and is named") {
  SmallLab lab;
  lab.set("x.block", CheckState::kTooExpensive);
  lab.cures = {{"student/conv/a.cpp", "student/conv/b.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in ==
        "the reference in place of student/conv; with the submission's own, Second is right, but too expensive: on 4 "
        "ranks: no");
  CHECK(lab.at("x.conv").passed());
  CHECK(lab.at("x.norm").passed());
}

TEST_CASE(
    "a part that only this task judges the cost of is not replaced for its cost, but for its own task's failure") {
  SmallLab lab;
  lab.rubric.tasks[2].judges_cost_of = {"student/conv"};
  lab.set("x.block", CheckState::kTooExpensive);
  lab.cures = {{"student/conv/a.cpp", "student/conv/b.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in.empty());
  lab.set("x.conv", CheckState::kFailed);
  lab.apply();
  CHECK(lab.at("x.block").passed());
}

TEST_CASE("a part that passes its own checks and fails inside two other tasks costs one check of its own task") {
  SmallLab lab;
  for (const char* id : {"x.block", "x.whole"}) lab.set(id, CheckState::kFailed);
  lab.cures = {{"student/norm.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.whole").passed());
  CHECK(lab.at("x.block").stand_in.find("in place of student/norm.cpp; with the submission's own, Second fails") !=
        std::string::npos);
  REQUIRE(lab.at("x.norm").checks.size() == 3);
  CHECK(lab.at("x.norm").checks.back().name == "Used by x.block");
  CHECK(lab.at("x.norm").checks.back().state == CheckState::kFailed);
  CHECK(lab.at("x.conv").passed());
}

TEST_CASE("a file of two tasks that has cost one of them marks costs the other nothing") {
  SmallLab lab;
  lab.rubric.tasks.insert(lab.rubric.tasks.begin() + 1, task_of("x.norm_gradient", "student/norm.cpp"));
  lab.set("x.norm_gradient", CheckState::kFailed);
  lab.set("x.block", CheckState::kFailed);
  lab.cures = {{"student/norm.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.norm").passed());
}

TEST_CASE("a task that fails with the reference's parts, too, has failed by itself") {
  SmallLab lab;
  lab.set("x.block", CheckState::kFailed);
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in.empty());
  CHECK(lab.at("x.norm").passed());
  CHECK(lab.at("x.conv").passed());
}

TEST_CASE("a task about the files of others is judged without the one that failed, but not without all") {
  SmallLab lab;
  lab.set("x.block", CheckState::kFailed);
  lab.set("x.whole", CheckState::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.whole").passed());
  lab = SmallLab();
  for (const char* id : {"x.block", "x.end", "x.whole"}) lab.set(id, CheckState::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.whole").passed());
  // Nor may the reference replace what was never written.
  lab = SmallLab();
  lab.set("x.block", CheckState::kFailed);
  lab.outcome.tasks["x.block"].state = TaskOutcome::State::kNotImplemented;
  lab.set("x.whole", CheckState::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.whole").passed());
}

TEST_CASE("a task is not judged again if the TODO that it reached stays") {
  for (const bool its_own : {true, false}) {
    SmallLab lab;
    lab.set("x.conv", CheckState::kFailed);
    lab.set("x.block", CheckState::kFailed);
    lab.outcome.tasks["x.block"].state = TaskOutcome::State::kNotImplemented;
    lab.outcome.tasks["x.block"].missing_task = its_own ? "x.block" : "x.conv";
    lab.cures = {{"student/conv/a.cpp"}};
    lab.apply();
    CHECK(lab.tried.empty() == its_own);
    CHECK(lab.at("x.block").passed() != its_own);
    if (its_own) CHECK(lab.at("x.block").skipped_because == "x.conv");
  }
}

TEST_CASE("where the machine fails while a task is judged again, that task is not judged") {
  SmallLab lab;
  lab.set("x.block", CheckState::kTooExpensive);
  lab.machine_fails = true;
  lab.apply();
  CHECK(lab.at("x.block").not_judged());
  lab.tried.clear();
  lab.apply();  // and is not tried again
  CHECK(lab.tried.empty());
}

TEST_CASE("a file that is still the starter's earns nothing by help") {
  SmallLab lab;
  lab.unwritten = {"student/blocks/block.cpp"};
  lab.set("x.conv", CheckState::kFailed);
  lab.set("x.block", CheckState::kFailed);
  lab.cures = {{"student/conv/a.cpp"}};
  lab.apply();
  CHECK(lab.tried.empty());
  CHECK(lab.at("x.block").skipped_because == "x.conv");
}

}  // namespace
}  // namespace lab::grading
