#include "grading/judge/rules.h"

#include <algorithm>
#include <utility>

#include "common/testing/test.h"
#include "grading/marks/lab_marks.h"

namespace lab::grading {
namespace {

using Files = std::set<std::string>;

constexpr char kTask[] = "x.sum";

Case make_case(const std::string& name) {
  Case test_case;
  test_case.task = kTask;
  test_case.name = name;
  return test_case;
}

/// One check on all sizes, one on 4 ranks only, and one that asks for no work.
std::vector<Case> three_cases() {
  std::vector<Case> cases = {make_case("Small"), make_case("Long"), make_case("Empty")};
  cases[1].skip_reason = [](int size) { return size == 4 ? "" : "on 4 ranks only"; };
  cases[2].earns_alone = false;
  return cases;
}

const std::map<char, Worth> kStates = {{'P', Worth::kPassed},
                                       {'F', Worth::kFailed},
                                       {'E', Worth::kTooExpensive},
                                       {'S', Worth::kSkipped},
                                       {'?', Worth::kNotJudged}};

/// The states of Small, Long and Empty afterwards, a letter each.
std::string after(const std::string& before, const CheckedSizes& sizes = {}) {
  const Facts facts{{}, three_cases(), sizes};
  TaskOutcome outcome{kTask, Worth::kAsChecked};
  for (std::size_t i = 0; i < before.size(); ++i)
    outcome.checks.push_back(CaseVerdict{facts.cases[i].name, kStates.at(before[i])});
  std::string states;
  const Outcomes outcomes = take_back_weak(facts, {{kTask, outcome}});
  for (const CaseVerdict& check : outcomes.at(kTask).checks) {
    for (const auto& [letter, state] : kStates)
      if (state == check.worth) states += letter;
  }
  return states;
}

TEST_CASE("a check on one number of ranks, or one that asks for no work, counts only if a stronger one is right") {
  CHECK(after("PPP") == "PPP");
  CHECK(after("PFP") == "PFP");
  CHECK(after("FPP") == "FFF");
  CHECK(after("FFP") == "FFF");
}

TEST_CASE("a check that may still pass keeps the weaker ones; what did not pass stays as it is") {
  CHECK(after("?PP") == "?PP");
  CHECK(after("EES") == "EES");
}

TEST_CASE("where all is judged on one size, that is enough") {
  CHECK(after("FPP", {{4}, {}}) == "FPP");
}

/// A run on `num_ranks` ranks; `end` is rank 0's.
CaseVerdict make_run(const std::string& name, Worth worth, const std::string& reason, int num_ranks,
                     CaseEnd end = CaseEnd::kReturned) {
  CaseVerdict run{name, worth, reason};
  run.task = kTask;
  run.ranks.resize(static_cast<std::size_t>(num_ranks), {CaseEnd::kReturned, Worth::kPassed});
  run.ranks[0].end = end;
  return run;
}

/// The check of these runs of a task's only case.
CaseVerdict check_after(const std::vector<CaseVerdict>& verdicts) {
  Facts facts{{}, {make_case("Small")}, {}, {kTask}};
  facts.runs.verdicts = verdicts;
  const TaskOutcome outcome = take_runs(facts, {}).at(kTask);
  CHECK((outcome.worth == Worth::kAsChecked));
  REQUIRE(outcome.checks.size() == 1);
  return outcome.checks[0];
}

TEST_CASE("a check is right if all its runs are or were skipped, and otherwise says where it was not") {
  const CaseVerdict right = make_run("Small", Worth::kPassed, "", 4),
                    skipped = make_run("Small", Worth::kSkipped, "", 3);
  CHECK(check_after({right, skipped}).passed());
  CHECK(check_after({skipped, right}).passed());
  CHECK(check_after({skipped, skipped}).skipped());
  CaseVerdict costly = make_run("Small", Worth::kTooExpensive, "rank 1: 3 calls", 4);
  costly.used.bytes_sent = 7;
  CHECK(check_after({costly}).too_expensive());
  CHECK(check_after({costly}).reason == "on 4 ranks: rank 1: 3 calls");
  CHECK(check_after({costly}).used.bytes_sent == 7);
  const CaseVerdict wrong = make_run("Small", Worth::kFailed, "rank 0, result 'out' is missing", 3);
  CHECK(
      check_after({right, wrong}).reason ==
      "on 3 ranks: rank 0, result 'out' is missing; in this run messages were delayed at random, as lab check --shake "
      "does");
}

TEST_CASE("a run without a result says how its world ended, and only a deadlock is then a likely cause") {
  CaseVerdict stuck = make_run("Small", Worth::kFailed, "rank 0: nothing came back", 4, CaseEnd::kNothing);
  stuck.failure = "deadlock: rank 0 waits for rank 1";
  stuck.failure_code = 6;
  stuck.symptom = {"stray_message", "a message was left"};
  CHECK(check_after({stuck}).reason == "on 4 ranks: deadlock: rank 0 waits for rank 1");
  CHECK(check_after({stuck}).symptom.id == "deadlock");
  stuck.failure_code = 5;
  CHECK(check_after({stuck}).symptom.id == "stray_message");
  CHECK(check_after({stuck}).symptom.message.empty());
}

TEST_CASE("a TODO is the task's, and what the machine kept from being judged has no marks, not even 0") {
  Facts facts{{}, {make_case("Small")}, {}, {kTask, "x.other"}};
  facts.runs.verdicts = {make_run("Small", Worth::kNotImplemented, "", 4, CaseEnd::kNotImplemented)};
  facts.runs.verdicts[0].ranks[0].missing_task = "x.helper";
  Outcomes outcomes = take_runs(facts, {});
  CHECK((outcomes.at(kTask).worth == Worth::kNotImplemented));
  CHECK(outcomes.at(kTask).reason == "TODO(x.helper) is still there");
  CHECK((outcomes.at(kTask).checks.at(0).worth == Worth::kFailed));
  CHECK((outcomes.at("x.other").worth == Worth::kNotRun));
  facts.runs = {{}, "no CPU, twice"};
  outcomes = take_runs(facts, {});
  for (const std::string task : {kTask, "x.other"}) {
    CHECK((outcomes.at(task).worth == Worth::kNotJudged));
    CHECK(outcomes.at(task).reason == "no CPU, twice");
  }
}

RubricTask read_task(const std::string& id, const std::string& file, std::vector<std::string> needs = {},
                     std::vector<std::string> stand_in = {}) {
  RubricTask task;
  task.id = id;
  task.file = file;
  task.marks = 10;
  task.needs = std::move(needs);
  task.stand_in = std::move(stand_in);
  return task;
}

TaskOutcome make_outcome(const std::string& id, Worth state) {
  TaskOutcome outcome;
  outcome.id = id;
  outcome.worth = Worth::kAsChecked;
  outcome.checks = {{"First", Worth::kPassed}, {"Second", state, "on 4 ranks: no"}};
  return outcome;
}

/// "norm" and "conv" have a file each; "block" builds on both, and "whole" is about the files of "block" and "end".
struct SmallLab {
  Facts facts;
  Outcomes outcomes;
  /// With the reference in place of these, "block" and "whole" pass.
  std::vector<Files> cures;
  bool machine_fails = false;
  std::vector<std::pair<std::string, Files>> tried;

  SmallLab() {
    facts.rubric.tasks = {
        read_task("x.norm", "student/norm.cpp"), read_task("x.conv", "student/conv"),
        read_task("x.block", "student/blocks/block.cpp", {"x.norm", "x.conv"}, {"student/norm.cpp", "student/conv"}),
        read_task("x.end", "student/blocks/end.cpp"),
        read_task("x.whole", "student/blocks", {"x.block", "x.end"},
                  {"student/norm.cpp", "student/blocks/block.cpp", "student/blocks/end.cpp"})};
    facts.files = facts.own_files = {"student/norm.cpp", "student/conv/a.cpp", "student/conv/b.cpp",
                                     "student/blocks/block.cpp", "student/blocks/end.cpp"};
    for (const RubricTask& task : facts.rubric.tasks) set(task.id, Worth::kPassed);
  }

  void set(const std::string& id, Worth worth) { outcomes[id] = make_outcome(id, worth); }

  void apply() {
    facts.tasks.clear();
    for (const RubricTask& task : facts.rubric.tasks) facts.tasks.push_back(task.id);
    facts.runs_with_reference = [this](const std::string& id, const Files& reference, const Files& but_for) {
      tried.emplace_back(id, reference);
      const bool cured = std::any_of(cures.begin(), cures.end(), [&](const Files& cure) {
        return std::includes(reference.begin(), reference.end(), cure.begin(), cure.end());
      });
      Runs runs;
      if (machine_fails) runs.not_judged = "no CPU";
      for (const std::string name : {"First", "Second"}) {
        const bool right = cured || name == "First";
        if (but_for.count(name) == 0 && !machine_fails)
          runs.verdicts.push_back({name, right ? Worth::kPassed : Worth::kFailed, right ? "" : "on 4 ranks: no"});
      }
      return std::optional<Runs>(runs);
    };
    outcomes = let_reference_stand_in(facts, outcomes);
  }

  const TaskOutcome& at(const std::string& id) const { return outcomes.at(id); }
};

TEST_CASE("what passes by itself is not judged again") {
  SmallLab lab;
  lab.apply();
  CHECK(lab.tried.empty());
}

TEST_CASE("a task that failed with a need is judged with the reference in its place, and says so") {
  SmallLab lab;
  lab.set("x.conv", Worth::kFailed);
  lab.set("x.block", Worth::kFailed);
  lab.cures = {{"student/conv/a.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in == "the reference in place of student/norm.cpp, student/conv, since x.conv failed");
  CHECK_FALSE(lab.at("x.conv").passed());
  CHECK(lab.at("x.conv").checks.size() == 2);  // it has failed already: nothing is added
}

TEST_CASE("a part that is right by itself and only too expensive costs nothing, and is named") {
  SmallLab lab;
  lab.set("x.block", Worth::kTooExpensive);
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
  lab.facts.rubric.tasks[2].judges_cost = {"student/conv"};
  lab.set("x.block", Worth::kTooExpensive);
  lab.cures = {{"student/conv/a.cpp", "student/conv/b.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in.empty());
  lab.set("x.conv", Worth::kFailed);
  lab.apply();
  CHECK(lab.at("x.block").passed());
}

TEST_CASE("a part that passes its own checks and fails inside two other tasks costs one check of its own task") {
  SmallLab lab;
  for (const char* id : {"x.block", "x.whole"}) lab.set(id, Worth::kFailed);
  lab.cures = {{"student/norm.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.whole").passed());
  CHECK(lab.at("x.block").stand_in.find("in place of student/norm.cpp; with the submission's own, Second fails") !=
        std::string::npos);
  REQUIRE(lab.at("x.norm").checks.size() == 3);
  CHECK(lab.at("x.norm").checks.back().name == "Used by x.block");
  CHECK(lab.at("x.norm").checks.back().worth == Worth::kFailed);
  CHECK(lab.at("x.conv").passed());
}

TEST_CASE("a file of two tasks that has cost one of them marks costs the other nothing") {
  SmallLab lab;
  lab.facts.rubric.tasks.insert(lab.facts.rubric.tasks.begin() + 1, read_task("x.norm_gradient", "student/norm.cpp"));
  lab.set("x.norm_gradient", Worth::kFailed);
  lab.set("x.block", Worth::kFailed);
  lab.cures = {{"student/norm.cpp"}};
  lab.apply();
  CHECK(lab.at("x.block").passed());
  CHECK(lab.at("x.norm").passed());
}

TEST_CASE("a task that fails with the reference's parts, too, has failed by itself") {
  SmallLab lab;
  lab.set("x.block", Worth::kFailed);
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.block").stand_in.empty());
  CHECK(lab.at("x.norm").passed());
  CHECK(lab.at("x.conv").passed());
}

TEST_CASE("a task about the files of others is judged without the one that failed, but not without all") {
  SmallLab lab;
  lab.set("x.block", Worth::kFailed);
  lab.set("x.whole", Worth::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.block").passed());
  CHECK(lab.at("x.whole").passed());
  lab = {};
  for (const char* id : {"x.block", "x.end", "x.whole"}) lab.set(id, Worth::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.whole").passed());
  // Nor may the reference replace what was never written.
  lab = {};
  lab.set("x.block", Worth::kFailed);
  lab.outcomes["x.block"].worth = Worth::kNotImplemented;
  lab.set("x.whole", Worth::kFailed);
  lab.cures = {{"student/blocks/block.cpp"}};
  lab.apply();
  CHECK_FALSE(lab.at("x.whole").passed());
}

TEST_CASE("a task is not judged again if the TODO that it reached stays") {
  for (const bool its_own : {true, false}) {
    SmallLab lab;
    lab.set("x.conv", Worth::kFailed);
    lab.set("x.block", Worth::kFailed);
    lab.outcomes["x.block"].worth = Worth::kNotImplemented;
    lab.outcomes["x.block"].missing_task = its_own ? "x.block" : "x.conv";
    lab.cures = {{"student/conv/a.cpp"}};
    lab.apply();
    CHECK(lab.tried.empty() == its_own);
    CHECK(lab.at("x.block").passed() != its_own);
    if (its_own) CHECK(lab.at("x.block").skipped_because == "x.conv");
  }
}

TEST_CASE("where the machine fails while a task is judged again, that task is not judged") {
  SmallLab lab;
  lab.set("x.block", Worth::kTooExpensive);
  lab.machine_fails = true;
  lab.apply();
  CHECK(lab.at("x.block").not_judged());
  lab.tried.clear();
  lab.apply();  // and is not tried again
  CHECK(lab.tried.empty());
}

TEST_CASE("a file that is still the starter's earns nothing by help") {
  SmallLab lab;
  lab.facts.own_files.erase("student/blocks/block.cpp");
  lab.set("x.conv", Worth::kFailed);
  lab.set("x.block", Worth::kFailed);
  lab.cures = {{"student/conv/a.cpp"}};
  lab.apply();
  CHECK(lab.tried.empty());
  CHECK(lab.at("x.block").skipped_because == "x.conv");
}

/// "sum" and "norm" have a file each, "choice.cpp" is next to that of "sum"; "block" needs "sum", "net" needs "block".
struct WaitingLab {
  Facts facts;
  Outcomes outcomes;

  WaitingLab() {
    facts.rubric.tasks = {read_task("x.sum", "student/sums/sum.cpp"), read_task("x.norm", "student/norm.cpp"),
                          read_task("x.block", "student/block.cpp", {"x.sum"}),
                          read_task("x.net", "student/net", {"x.block"}),
                          read_task("x.other", "student/other.cpp", {}, {"student/norm.cpp"})};
    for (const RubricTask& task : facts.rubric.tasks) set(task.id, Worth::kPassed);
  }

  void set(const std::string& id, Worth worth) {
    outcomes[id] = {id, Worth::kAsChecked, {{"First of " + id, Worth::kPassed}, {"Second of " + id, worth, "wrong"}}};
  }

  void withhold(const std::string& file) {
    facts.to_look_at = {file};
    facts.left_out = {{file, "needs a look: it uses open"}};
    outcomes = withhold_dependents(facts, withhold_tasks(facts, outcomes));
  }

  const TaskOutcome& at(const std::string& id) const { return outcomes.at(id); }
};

TEST_CASE("a file that needs a look: its task is not judged, and has no marks, not even 0") {
  WaitingLab lab;
  lab.set("x.norm", Worth::kFailed);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.norm").worth == Worth::kNotJudged);
  CHECK(lab.at("x.norm").reason == "student/norm.cpp: needs a look: it uses open");
  CHECK(lab.at("x.norm").checks.at(0).worth == Worth::kPassed);
  CHECK(lab.at("x.norm").checks.at(1).worth == Worth::kNotJudged);
  LabOutcome outcome;
  outcome.tasks = lab.outcomes;
  const MarkedItem item = mark_task(lab.facts.rubric.tasks.at(1), outcome);
  CHECK(item.worth == Worth::kNotJudged);
  CHECK(item.marks == 0);
  CHECK(item.not_judged == 10);
  CHECK(item.findings == std::vector<std::string>{"not judged: student/norm.cpp: needs a look: it uses open"});
}

TEST_CASE("a TODO in its place is not the student's") {
  WaitingLab lab;
  lab.outcomes["x.norm"].worth = Worth::kNotImplemented;
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.norm").worth == Worth::kNotJudged);
}

TEST_CASE("what passes without the file keeps its marks, and what failed without needing it has failed") {
  WaitingLab lab;
  lab.set("x.norm", Worth::kFailed);
  lab.set("x.sum", Worth::kFailed);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.sum").worth == Worth::kAsChecked);
  CHECK(lab.at("x.sum").checks.at(1).worth == Worth::kFailed);
  CHECK(lab.at("x.block").passed());
}

TEST_CASE("tasks that build on it may have failed because of that, directly or not") {
  WaitingLab lab;
  for (const char* id : {"x.sum", "x.block", "x.net", "x.other"}) lab.set(id, Worth::kFailed);
  lab.withhold("student/sums/sum.cpp");
  CHECK(lab.at("x.block").worth == Worth::kNotJudged);
  CHECK(lab.at("x.block").reason == "needs a look: it builds on student/sums/sum.cpp, which was left out");
  CHECK(lab.at("x.net").worth == Worth::kNotJudged);
  CHECK(lab.at("x.other").worth == Worth::kAsChecked);
  lab.withhold("student/norm.cpp");
  CHECK(lab.at("x.other").worth == Worth::kNotJudged);
}

TEST_CASE("... unless they were judged with the reference in its place") {
  WaitingLab lab;
  lab.set("x.sum", Worth::kFailed);
  lab.set("x.block", Worth::kFailed);
  lab.outcomes["x.block"].stand_in = "the reference in place of student/sums/sum.cpp";
  lab.withhold("student/sums/sum.cpp");
  CHECK(lab.at("x.block").worth == Worth::kAsChecked);
}

TEST_CASE("a file in a task's folder belongs to that task; a file without a task belongs to those next to it") {
  WaitingLab lab;
  lab.set("x.net", Worth::kFailed);
  lab.set("x.sum", Worth::kFailed);
  lab.set("x.norm", Worth::kFailed);
  lab.withhold("student/net/layer.cpp");
  CHECK(lab.at("x.net").worth == Worth::kNotJudged);
  CHECK(lab.at("x.sum").worth == Worth::kAsChecked);
  lab.withhold("student/sums/choice.cpp");
  CHECK(lab.at("x.sum").worth == Worth::kNotJudged);
  CHECK(lab.at("x.norm").worth == Worth::kAsChecked);
}

TEST_CASE("where one task alone was judged, the others are not made up") {
  WaitingLab lab;
  lab.outcomes.erase("x.norm");
  lab.withhold("student/norm.cpp");
  CHECK(lab.outcomes.count("x.norm") == 0);
}

/// A lab in which every rule has something to do: "norm" was left out and waits for a look, "late" builds on it, "conv"
/// is wrong, and "block" because of it.
Facts busy_lab() {
  SmallLab lab;
  lab.facts.left_out = {{"student/norm.cpp", "needs a look: it uses open"}};
  lab.facts.to_look_at = {"student/norm.cpp"};
  lab.facts.rubric.tasks.push_back(read_task("x.late", "student/late.cpp", {"x.norm"}));
  for (const RubricTask& task : lab.facts.rubric.tasks) {
    lab.facts.tasks.push_back(task.id);
    lab.facts.cases.push_back(make_case(task.id));
    lab.facts.cases.back().task = task.id;
    lab.facts.cases.back().earns_alone = task.id != "x.end";
    const bool right = task.id == "x.end" || task.id == "x.whole";
    lab.facts.runs.verdicts.push_back(make_run(task.id, right ? Worth::kPassed : Worth::kFailed, right ? "" : "no", 4));
    lab.facts.runs.verdicts.back().task = task.id;
  }
  lab.facts.runs_with_reference = [](const std::string& task, const Files&, const Files&) {
    return std::optional<Runs>({{make_run(task, Worth::kPassed, "", 4)}});
  };
  return lab.facts;
}

/// What an outcome says, as text.
std::string get_text(const Outcomes& outcomes) {
  std::string text;
  for (const auto& [id, outcome] : outcomes) {
    text += id + " " + get_name(outcome.worth) + " " + outcome.reason + " " + outcome.stand_in + "\n";
    for (const CaseVerdict& check : outcome.checks)
      text += "  " + check.name + " " + get_name(check.worth) + " " + check.reason + "\n";
  }
  return text;
}

TEST_CASE("each rule changes something in a lab where it should, and sees only what it is about") {
  const Facts facts = busy_lab();
  // What a rule may see is what its outcome may depend on; the rubric and the tasks are everybody's.
  const struct {
    Rule rule;
    bool runs, cases, left_out, reference;
  } may_see[] = {{take_runs, true, false, false, false},
                 {take_back_weak, false, true, false, false},
                 {explain_left_out, false, false, true, false},
                 {withhold_tasks, false, false, true, false},
                 {let_reference_stand_in, false, true, false, true},
                 {withhold_dependents, false, false, true, false}};
  REQUIRE(std::size(may_see) == std::size(kRules));
  Outcomes outcomes;
  for (std::size_t i = 0; i < std::size(may_see); ++i) {
    CAPTURE(i);
    CHECK((may_see[i].rule == kRules[i]));
    Facts seen = facts;
    if (!may_see[i].runs) seen.runs = {};
    if (!may_see[i].cases) seen.cases.clear();
    if (!may_see[i].left_out) seen.left_out.clear(), seen.to_look_at.clear();
    if (!may_see[i].reference)
      seen.runs_with_reference = [](const std::string& task, const Files&, const Files&) -> std::optional<Runs> {
        throw std::runtime_error("asked for runs of " + task);
      };
    const Outcomes next = may_see[i].rule(seen, outcomes);
    CHECK(get_text(next) == get_text(kRules[i](facts, outcomes)));
    CHECK(get_text(next) != get_text(outcomes));
    outcomes = next;
  }
  CHECK(get_text(outcomes) == get_text(outcomes_by_rules(facts)));
}

}  // namespace
}  // namespace lab::grading
