#include "grading/judge/judge_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/launch/one_rank.h"
#include "grading/judge/check_runs.h"
#include "grading/judge/sandbox.h"
#include "grading/judge/stand_ins.h"

namespace lab::grading {
namespace {

bool may_still_pass(const CheckOutcome& check) {
  using State = CheckOutcome::State;
  return check.state == State::kNotRun || check.state == State::kPassed || check.state == State::kSkipped;
}

constexpr const char* kShakenHint = "; in this run messages were delayed at random, as lab check --shake does";

/// The check after one more world size.
void add_run(CheckOutcome& check, const CheckedCase& run, int num_ranks, bool shaken) {
  using State = CheckOutcome::State;
  if (run.skipped()) {
    if (check.state == State::kNotRun) check.state = State::kSkipped;
    return;
  }
  // A world that failed after its only result arrived failed because of that check: a message that was never received.
  if (run.right()) {
    check.state = State::kPassed;
    return;
  }
  check.state = run.too_expensive() ? State::kTooExpensive : State::kFailed;
  const std::string own = run.message();
  const bool no_result =
      own.empty() || std::any_of(run.ranks.begin(), run.ranks.end(), [](const RankVerdict& rank) {
        return rank.state == RankVerdict::State::kNoRecord || rank.state == RankVerdict::State::kThrew;
      });
  check.reason =
      fmt::format("on {}: {}", counted(num_ranks, "rank"), no_result && run.failure ? run.failure->message : own);
  if (shaken) check.reason += kShakenHint;
  if (no_result && run.failure && run.failure->exit_code == static_cast<int>(ExitCode::kDeadlock)) {
    check.symptom_id = "deadlock";
  } else if (run.symptom) {
    check.symptom_id = run.symptom->id;
  }
}

void note_todo(TaskOutcome& outcome, const CaseVerdict& verdict) {
  if (!verdict.not_implemented()) return;
  outcome.state = TaskOutcome::State::kNotImplemented;
  const auto rank = std::find_if(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& one) {
    return one.state == RankVerdict::State::kNotImplemented;
  });
  outcome.reason = fmt::format("TODO({}) is still there", rank->missing_task);
}

CheckOutcome& check_of(TaskOutcome& outcome, const std::string& name) {
  const auto found = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                  [&](const CheckOutcome& other) { return other.name == name; });
  if (found != outcome.checks.end()) return *found;
  return *outcome.checks.insert(found, CheckOutcome{name, {}, "", ""});
}

void note_not_judged(TaskOutcome& outcome, const std::string& name, const NotJudged& fault) {
  outcome.state = TaskOutcome::State::kJudged;
  CheckOutcome& check = check_of(outcome, name);
  check.state = CheckOutcome::State::kNotJudged;
  check.reason = fault.what();
}

TaskOutcome task_not_judged(const std::string& id, const NotJudged& fault) {
  TaskOutcome outcome;
  outcome.id = id;
  outcome.state = TaskOutcome::State::kNotJudged;
  outcome.reason = fault.what();
  return outcome;
}

/// Runs the checks on one size after the other, as long as they have something to lose.
std::map<std::string, TaskOutcome> run_sizes(const CheckRunner& runner, const Rubric& rubric,
                                             const std::vector<Case>& cases) {
  std::map<std::string, TaskOutcome> outcomes;
  for (const int num_ranks : rubric.judging.ranks) {
    const bool shaken = num_ranks != rubric.judging.ranks.front();  // what fails in order needs no disorder
    std::vector<Case> still;
    for (const Case& test_case : cases) {
      TaskOutcome& outcome = outcomes[test_case.task];
      outcome.id = test_case.task;
      if (outcome.state != TaskOutcome::State::kNotImplemented && may_still_pass(check_of(outcome, test_case.name)))
        still.push_back(test_case);
    }
    std::vector<CheckedCase> runs;
    try {
      runs = runner.run(num_ranks, still, shaken);
    } catch (const NotJudged& fault) {
      for (const Case& test_case : still) note_not_judged(outcomes[test_case.task], test_case.name, fault);
      return outcomes;
    }
    for (const CheckedCase& run : runs) {
      TaskOutcome& outcome = outcomes[run.task];
      if (outcome.state == TaskOutcome::State::kNotRun) outcome.state = TaskOutcome::State::kJudged;
      add_run(check_of(outcome, run.name), run, num_ranks, shaken);
      note_todo(outcome, run);
    }
  }
  return outcomes;
}

/// Whether the program reaches main(): a file may do harm before that.
bool starts(const Sandbox& sandbox, const StudentBuild& build) {
  if (build.program.empty()) return false;
  SandboxJob job;
  job.argv = {build.program, "--version"};
  job.folder = build.folder->path();
  job.limits.run_seconds = 10;
  const SandboxResult result = sandbox.run_or_give_up(job);
  return result.exit_code == 0 && !result.out.empty();
}

/// The submission's program, without files that end it before main(); each file is tried alone among stubs.
StudentBuild build_that_starts(const StudentBuilder& builder, const Sandbox& sandbox,
                               const std::map<std::string, std::string>& texts) {
  StudentBuild build = builder.build(texts);
  if (build.changed.empty() || starts(sandbox, build)) return build;
  std::set<std::string> harmful;
  for (const std::string& name : build.changed) {
    if (!starts(sandbox, builder.build({{name, texts.at(name)}}))) harmful.insert(name);
  }
  build = builder.build(texts, {}, harmful);
  for (const std::string& name : harmful) build.replaced[name] = "it ends the program before it starts";
  return build;
}

/// Those of the rubric's tasks that have a case, in its order; or only the one that was asked for.
std::vector<std::string> tasks_to_run(const Rubric& rubric, const std::vector<Case>& cases, const std::string& only) {
  std::vector<std::string> tasks;
  for (const RubricTask& task : rubric.tasks) {
    if (!cases_of_task(cases, task.id).empty() && (only.empty() || only == task.id)) tasks.push_back(task.id);
  }
  return tasks;
}

/// In the order of the case table, which is that of a run.
std::vector<Case> cases_of_tasks(const std::vector<Case>& cases, const std::vector<std::string>& tasks) {
  std::vector<Case> chosen;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(chosen), [&](const Case& test_case) {
    return std::find(tasks.begin(), tasks.end(), test_case.task) != tasks.end();
  });
  return chosen;
}

/// For tasks that lost marks, says why their files were left out of the program.
void note_replaced(const StudentBuild& build, const Rubric& rubric, LabOutcome& outcome) {
  for (auto& [id, result] : outcome.tasks) {
    const auto replaced = build.replaced.find(rubric.find_task(id)->file);
    if (replaced != build.replaced.end() && !result.passed())
      result.reason = fmt::format("{}: {}", replaced->first, replaced->second);
  }
}

struct Judging {
  const Rubric& rubric;
  const StudentBuilder& builder;
  const Sandbox& sandbox;
  const std::map<std::string, std::string>& texts;
  std::uint64_t seed;
};

/// Builds, runs and judges into `outcome`, which has an entry for each of the tasks.
/// Errors    NotJudged: the submission could not be built because of the machine
void judge_tasks(const Judging& judging, const std::vector<Case>& cases, const std::vector<std::string>& tasks,
                 LabOutcome& outcome) {
  const auto& [rubric, builder, sandbox, texts, seed] = judging;
  const StudentBuild build = build_that_starts(builder, sandbox, texts);
  CheckRunner runner{sandbox, build.program, seed, rubric.judging.stall_seconds};
  if (!build.program.empty()) outcome.tasks = run_sizes(runner, rubric, cases_of_tasks(cases, tasks));
  for (const auto& [name, reason] : build.replaced) {
    if (texts.count(name) != 0) outcome.notes.push_back(fmt::format("{}: {}", name, reason));
  }
  if (build.program.empty()) outcome.notes.emplace_back("the program could not be linked, so nothing was run");
  note_replaced(build, rubric, outcome);

  std::map<std::set<std::string>, StudentBuild> helped;  // keyed by the reference files in it
  StandIns stand_ins{rubric, {}, [&](const std::string& file) { return build.is_own(file); }, {}};
  for (const StudentSource& source : builder.recipe().sources) stand_ins.files.insert(source.name);
  stand_ins.judge_again = [&](const std::string& task, const std::set<std::string>& reference) {
    auto found = helped.find(reference);
    try {
      if (found == helped.end()) found = helped.emplace(reference, builder.build(texts, reference)).first;
    } catch (const NotJudged& fault) {
      return std::optional<TaskOutcome>(task_not_judged(task, fault));
    }
    const StudentBuild& with_help = found->second;
    // The submission's files may need each other: then there is no such program.
    const bool same_files =
        std::all_of(with_help.replaced.begin(), with_help.replaced.end(),
                    [&](const auto& replaced) { return build.replaced.count(replaced.first) != 0; });
    if (with_help.program.empty() || !same_files) return std::optional<TaskOutcome>();
    CheckRunner again = runner;
    again.program = with_help.program;
    return std::optional<TaskOutcome>(run_sizes(again, rubric, cases_of_task(cases, task)).at(task));
  };
  if (!build.program.empty()) stand_ins.apply(tasks, outcome);
}

}  // namespace

LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& texts, const GradeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  launch::use_threads(1);  // results are small, and a pool of threads would compete with the ranks
  const std::vector<Case> cases = lab.cases();
  const std::vector<std::string> tasks = tasks_to_run(rubric, cases, options.only_task);
  LabOutcome outcome;
  outcome.lab = lab.folder;
  outcome.isolation = sandbox.level();
  outcome.seed = fmt::format("--seed {}", options.seed);
  for (const std::string& task : tasks) outcome.tasks[task].id = task;

  try {
    judge_tasks({rubric, builder, sandbox, texts, options.seed}, cases, tasks, outcome);
  } catch (const NotJudged& fault) {
    for (const std::string& task : tasks) outcome.tasks[task] = task_not_judged(task, fault);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace lab::grading
