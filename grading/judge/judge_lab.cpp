#include "grading/judge/judge_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "common/launch/one_rank.h"
#include "grading/judge/task_runs.h"

namespace lab::grading {
namespace {

/// The check of one case after one more world size.
void add_verdict(CheckOutcome& check, const CaseVerdict& verdict, const TaskRun& run, int num_ranks) {
  using State = CheckOutcome::State;
  if (check.state == State::kFailed || check.state == State::kTooExpensive) return;
  // A world that failed after all its results had come failed because of them, too: a message that nobody waited for.
  const bool failed_late = verdict.passed() && !run.sentence.empty();
  if (verdict.skipped()) {
    if (check.state == State::kNotRun) check.state = State::kSkipped;
    return;
  }
  if (verdict.passed() && !failed_late) {
    check.state = State::kPassed;
    return;
  }
  check.state = verdict.too_expensive() ? State::kTooExpensive : State::kFailed;
  const std::string own = verdict.sentence();
  const bool no_result =
      own.empty() || std::any_of(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& rank) {
        return rank.state == RankVerdict::State::kNoRecord || rank.state == RankVerdict::State::kThrew;
      });
  check.words = fmt::format("on {} ranks: {}", num_ranks, no_result && !run.sentence.empty() ? run.sentence : own);
  if (run.deadlocked && no_result) {
    check.symptom_id = "deadlock";
  } else if (verdict.symptom) {
    check.symptom_id = verdict.symptom->id;
  }
}

void add_run(TaskOutcome& outcome, const TaskRun& run, int num_ranks) {
  for (const CaseVerdict& verdict : run.verdicts) {
    auto check = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                              [&](const CheckOutcome& other) { return other.name == verdict.name; });
    if (check == outcome.checks.end()) check = outcome.checks.insert(check, CheckOutcome{verdict.name, {}, "", ""});
    add_verdict(*check, verdict, run, num_ranks);
    if (!verdict.not_implemented()) continue;
    outcome.state = TaskOutcome::State::kNotImplemented;
    const auto rank = std::find_if(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& one) {
      return one.state == RankVerdict::State::kNotImplemented;
    });
    outcome.words = fmt::format("TODO({}) is still there", rank->missing_task);
  }
  if (outcome.state == TaskOutcome::State::kNotRun) outcome.state = TaskOutcome::State::kJudged;
}

/// Runs the tasks on one size after the other, as long as they have something to lose.
std::map<std::string, TaskOutcome> run_sizes(const TaskRunner& runner, const Rubric& rubric,
                                             const std::vector<std::string>& tasks) {
  std::map<std::string, TaskOutcome> outcomes;
  for (const std::string& task : tasks) outcomes[task].id = task;
  for (const int num_ranks : rubric.judging.ranks) {
    std::vector<std::string> still;
    for (const std::string& task : tasks) {
      const TaskOutcome& outcome = outcomes[task];
      const bool first = outcome.state == TaskOutcome::State::kNotRun;
      const bool lost = std::none_of(outcome.checks.begin(), outcome.checks.end(), [](const CheckOutcome& check) {
        return check.state == CheckOutcome::State::kPassed || check.state == CheckOutcome::State::kSkipped;
      });
      if (first || (!lost && outcome.state == TaskOutcome::State::kJudged)) still.push_back(task);
    }
    if (still.empty()) break;
    for (const auto& [task, run] : runner.run(num_ranks, still)) add_run(outcomes[task], run, num_ranks);
  }
  return outcomes;
}

/// Files of the recipe that an entry of `stand_in` or `file` names: itself, or all below a folder.
std::set<std::string> files_of(const BuildRecipe& recipe, const std::vector<std::string>& entries) {
  std::set<std::string> files;
  for (const StudentSource& source : recipe.sources) {
    for (const std::string& entry : entries) {
      if (source.name == entry || source.name.compare(0, entry.size() + 1, entry + "/") == 0) files.insert(source.name);
    }
  }
  return files;
}

std::string first_failed_need(const RubricTask& task, const std::map<std::string, TaskOutcome>& outcomes) {
  for (const std::string& need : task.needs) {
    const auto found = outcomes.find(need);
    if (found != outcomes.end() && !found->second.passed()) return need;
  }
  return "";
}

/// Whether the program comes as far as its own main(): a file may do its harm before.
bool starts(const Sandbox& sandbox, const StudentBuild& build) {
  if (build.program.empty()) return false;
  SandboxJob job;
  job.argv = {build.program, "--version"};
  job.folder = build.folder->path();
  job.limits.wall_seconds = 10;
  const SandboxResult result = sandbox.run(job);
  return result.exit_code == 0 && !result.out.empty();
}

/// The submission's program; without files that end it before it starts, which are tried one by one among stubs.
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

std::vector<std::string> tasks_to_run(const Rubric& rubric, const std::vector<Case>& cases, const std::string& only) {
  std::vector<std::string> tasks;
  for (const RubricTask& task : rubric.tasks) {
    const bool has_case =
        std::any_of(cases.begin(), cases.end(), [&](const Case& the_case) { return the_case.task == task.id; });
    if (has_case && (only.empty() || only == task.id)) tasks.push_back(task.id);
  }
  return tasks;
}

}  // namespace

LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& texts, const JudgeOrder& order) {
  const auto start = std::chrono::steady_clock::now();
  use_threads(1);  // results are small, and a pool of threads would spin beside the ranks
  const std::vector<Case> cases = lab.cases();
  const std::vector<std::string> tasks = tasks_to_run(rubric, cases, order.only_task);
  LabOutcome outcome;
  outcome.lab = lab.folder;
  outcome.isolation = sandbox.level();
  outcome.seed = fmt::format("--seed {}", order.seed);

  const StudentBuild build = build_that_starts(builder, sandbox, texts);
  const TaskRunner runner{sandbox, cases, build.program, order.seed, rubric.judging.stall_seconds};
  if (!build.program.empty()) outcome.tasks = run_sizes(runner, rubric, tasks);
  for (const auto& [name, reason] : build.replaced) {
    if (texts.count(name) != 0) outcome.notes.push_back(fmt::format("{}: {}", name, reason));
  }
  if (build.program.empty()) outcome.notes.push_back("the program could not be linked, so nothing was run");

  // Needs are looked up in what the submission did by itself: a task that only the reference helped has failed.
  const std::map<std::string, TaskOutcome> unaided = outcome.tasks;
  std::map<std::set<std::string>, std::vector<std::string>> again;  // files that stand in -> tasks
  for (const std::string& id : tasks) {
    TaskOutcome& result = outcome.tasks[id];
    result.id = id;
    const RubricTask& task = *rubric.find_task(id);
    const std::set<std::string> files = files_of(builder.recipe(), {task.file});
    for (const std::string& file : files) {
      const auto replaced = build.replaced.find(file);
      if (replaced != build.replaced.end() && !result.passed())
        result.words = fmt::format("{}: {}", file, replaced->second);
    }
    if (result.passed()) continue;
    result.skipped_because = first_failed_need(task, unaided);
    const std::set<std::string> stand_in = files_of(builder.recipe(), task.stand_in);
    const bool written = std::any_of(files.begin(), files.end(), [&](const auto& file) { return build.is_own(file); });
    if (!result.skipped_because.empty() && !stand_in.empty() && written) again[stand_in].push_back(id);
  }
  for (const auto& [stand_in, helped] : again) {
    const StudentBuild with_help = builder.build(texts, stand_in);
    if (with_help.program.empty()) continue;
    TaskRunner runner_again = runner;
    runner_again.program = with_help.program;
    for (auto& [id, judged_again] : run_sizes(runner_again, rubric, helped)) {
      judged_again.with_stand_in = true;
      outcome.tasks[id] = judged_again;
    }
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace lab::grading
