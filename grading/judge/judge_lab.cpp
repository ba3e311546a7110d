#include "grading/judge/judge_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/launch/one_rank.h"
#include "common/tensor/compute_threads.h"
#include "grading/judge/check_runs.h"
#include "grading/judge/claims.h"
#include "grading/judge/stand_ins.h"
#include "grading/judge/weak_checks.h"
#include "grading/judge/withheld_tasks.h"
#include "grading/sandbox/sandbox.h"

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
  const std::string own = run.reason();
  const bool no_result =
      own.empty() || std::any_of(run.ranks.begin(), run.ranks.end(), [](const RankVerdict& rank) {
        return rank.state == RankVerdict::State::kNoRecord || rank.state == RankVerdict::State::kThrew;
      });
  check.reason =
      fmt::format("on {}: {}", counted(num_ranks, "rank"), no_result && run.failure ? run.failure->message : own);
  if (shaken) check.reason += kShakenHint;
  if (!no_result) {  // else it depends on the machine how far the others had come
    check.used = run.used;
    check.most = run.limits;
  }
  check.timeline = run.timeline;
  if (no_result && run.failure && run.failure->exit_code == static_cast<int>(ExitCode::kDeadlock)) {
    check.symptom_id = "deadlock";
  } else if (run.symptom) {
    check.symptom_id = run.symptom->id;
    if (!no_result || !run.failure) check.likely = run.symptom->message;
  }
}

void note_todo(TaskOutcome& outcome, const CaseVerdict& verdict) {
  if (!verdict.not_implemented()) return;
  outcome.state = TaskOutcome::State::kNotImplemented;
  const auto rank = std::find_if(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& one) {
    return one.state == RankVerdict::State::kNotImplemented;
  });
  outcome.missing_task = rank->missing_task;
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

void note_failed(TaskOutcome& outcome, const std::string& name, const std::string& reason) {
  outcome.state = TaskOutcome::State::kJudged;
  CheckOutcome& check = check_of(outcome, name);
  check.state = CheckOutcome::State::kFailed;
  check.reason = reason;
}

TaskOutcome task_not_judged(const std::string& id, const NotJudged& fault) {
  TaskOutcome outcome;
  outcome.id = id;
  outcome.state = TaskOutcome::State::kNotJudged;
  outcome.reason = fault.what();
  return outcome;
}

/// Why a check that passed must wait for a look; empty: it need not.
std::string reason_to_look(const ClaimCheck& claims, const Case& test_case, int num_ranks, const CheckedCase& run) {
  try {
    return claims.contradiction(test_case, num_ranks, run);
  } catch (const NotJudged& fault) {
    return fault.what();
  } catch (const BudgetSpent& spent) {
    return fmt::format("needs a look: a comparison with the reference was {}", spent.what());
  }
}

/// What is kept of a task that is judged again: its checks that are fine.
TaskOutcome fine_part(const TaskOutcome& unaided) {
  TaskOutcome kept;
  kept.id = unaided.id;
  if (unaided.state != TaskOutcome::State::kJudged) return kept;
  kept.state = unaided.state;
  for (const CheckOutcome& check : unaided.checks)
    kept.checks.push_back(check.is_fine() ? check : CheckOutcome{check.name, {}, "", ""});
  return kept;
}

/// Runs the checks on one size after the other, as long as they have something to lose. `outcomes`: what is known; its
/// checks that are fine are not run.
std::map<std::string, TaskOutcome> run_sizes(const CheckRunner& runner, const CheckedSizes& sizes,
                                             const std::vector<Case>& cases, const ClaimCheck& claims,
                                             std::map<std::string, TaskOutcome> outcomes) {
  std::vector<Case> to_run;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(to_run), [&](const Case& test_case) {
    const std::vector<CheckOutcome>& known = outcomes[test_case.task].checks;
    return std::none_of(known.begin(), known.end(),
                        [&](const CheckOutcome& check) { return check.name == test_case.name && check.is_fine(); });
  });
  for (const int num_ranks : sizes.all()) {
    const bool shaken = num_ranks != sizes.all().front();  // what fails in order needs no disorder
    std::vector<Case> still;
    for (const Case& test_case : to_run) {
      if (!sizes.include(test_case, num_ranks)) continue;
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
    } catch (const BudgetSpent& spent) {
      for (const Case& test_case : still) note_failed(outcomes[test_case.task], test_case.name, spent.what());
      return outcomes;
    }
    for (std::size_t run_index = 0; run_index < runs.size(); ++run_index) {
      const CheckedCase& run = runs[run_index];
      TaskOutcome& outcome = outcomes[run.task];
      if (outcome.state == TaskOutcome::State::kNotRun) outcome.state = TaskOutcome::State::kJudged;
      CheckOutcome& check = check_of(outcome, run.name);
      add_run(check, run, num_ranks, shaken);
      note_todo(outcome, run);
      if (check.state != CheckOutcome::State::kPassed) continue;
      const std::string reason = reason_to_look(claims, still[run_index], num_ranks, run);
      if (!reason.empty()) note_not_judged(outcome, run.name, NotJudged(reason));
    }
  }
  take_back_weak(cases, sizes, outcomes);
  return outcomes;
}

/// Whether the program gets as far as to ask for work: a file may do harm before that.
bool starts(RankServer& server, double stall_seconds) {
  CaseWorldSpec spec;
  spec.num_ranks = 1;
  spec.stall_seconds = stall_seconds;
  CaseWorld world = run_case_world(server, spec);
  if (world.is_machines_fault) world = run_case_world(server, spec);
  if (world.is_machines_fault) throw NotJudged("twice, the program could not be started: " + world.results[0].ending());
  return world.num_started == 1;
}

/// A submission's program, and what makes its ranks; none if it could not be linked.
struct BuiltSubmission {
  StudentBuild build;
  std::shared_ptr<RankServer> server;
};

BuiltSubmission built(StudentBuild build, const Sandbox& sandbox) {
  BuiltSubmission submission{std::move(build), nullptr};
  if (!submission.build.program.empty())
    submission.server = std::make_shared<RankServer>(sandbox, submission.build.program);
  return submission;
}

/// Without files that end it before main(), or lack what the lab calls; each file is tried alone among stubs.
BuiltSubmission build_that_starts(const StudentBuilder& builder, const Sandbox& sandbox, double stall_seconds,
                                  const std::map<std::string, std::string>& texts) {
  BuiltSubmission whole = built(builder.build(texts), sandbox);
  const auto does_start = [&](const BuiltSubmission& one) { return one.server && starts(*one.server, stall_seconds); };
  if (whole.build.changed.empty() || does_start(whole)) return whole;
  std::set<std::string> harmful;
  std::map<std::string, std::string> reasons;
  for (const std::string& name : whole.build.changed) {
    const BuiltSubmission alone = built(builder.build({{name, texts.at(name)}}), sandbox);
    if (does_start(alone)) continue;
    harmful.insert(name);
    reasons[name] = alone.server ? "it ends the program before it starts" : alone.build.not_linked;
  }
  whole = built(builder.build(texts, {}, harmful), sandbox);
  for (const auto& [name, reason] : reasons) whole.build.replaced[name] = reason;
  return whole;
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
  const JudgedLab& lab;
  const Rubric& rubric;
  const StudentBuilder& builder;
  const Sandbox& sandbox;
  const std::map<std::string, std::string>& texts;
  const GradeOptions& options;
};

std::set<std::string> student_files(const StudentBuilder& builder) {
  std::set<std::string> files;
  for (const StudentSource& source : builder.recipe().sources) files.insert(source.name);
  return files;
}

/// Its program is built and started when it is first needed.
ClaimCheck::RunReference reference_runner(const Judging& judging) {
  if (judging.options.believes_ranks) return {};
  return [&judging, reference = BuiltSubmission()](const Case& test_case, int num_ranks) mutable {
    if (!reference.server)
      reference = built(judging.builder.build(judging.texts, student_files(judging.builder)), judging.sandbox);
    const CheckRunner runner{reference.server, judging.options.seed, judging.rubric.judging.stall_seconds};
    return runner.run(num_ranks, {test_case}).front();
  };
}

/// Builds, runs and judges into `outcome`, which has an entry for each of the tasks.
/// Errors    NotJudged: the submission could not be built because of the machine
void judge_tasks(const Judging& judging, const std::vector<Case>& cases, const std::vector<std::string>& tasks,
                 LabOutcome& outcome) {
  const auto& [lab, rubric, builder, sandbox, texts, options] = judging;
  const std::uint64_t seed = options.seed;
  const double stall_seconds = rubric.judging.stall_seconds;
  auto [build, server] = build_that_starts(builder, sandbox, stall_seconds, texts);
  CheckRunner runner{std::move(server), seed, stall_seconds};
  const ClaimCheck claims(reference_runner(judging));
  const auto run_all_sizes = [&judging, &claims](const CheckRunner& with, const std::vector<Case>& some,
                                                 std::map<std::string, TaskOutcome> known) {
    return run_sizes(with, judged_sizes(judging.lab, judging.rubric), some, claims, std::move(known));
  };
  if (!build.program.empty()) outcome.tasks = run_all_sizes(runner, cases_of_tasks(cases, tasks), {});
  for (const auto& [name, reason] : build.replaced) {
    if (texts.count(name) != 0) outcome.notes.push_back(fmt::format("{}: {}", name, reason));
  }
  if (build.program.empty()) outcome.notes.emplace_back("the program could not be linked, so nothing was run");
  runner.server.reset();  // its memory is needed by those of the programs below
  note_replaced(build, rubric, outcome);
  std::map<std::string, std::string> withheld;
  for (const auto& [name, symbols] : build.needs_look) withheld[name] = build.replaced.at(name);
  withhold_tasks(rubric, withheld, outcome);
  outcome.needs_look = build.needs_look;

  const StudentBuild& own = build;
  std::map<std::set<std::string>, StudentBuild> helped;  // keyed by the reference files in it
  StandIns stand_ins{rubric, student_files(builder), [&](const std::string& file) { return own.is_own(file); }, {}};
  stand_ins.judge_again = [&](const std::string& task, const std::set<std::string>& reference,
                              const TaskOutcome& unaided) {
    auto found = helped.find(reference);
    try {
      if (found == helped.end())
        found = helped.emplace(reference, judging.builder.build_again(own, judging.texts, reference)).first;
    } catch (const NotJudged& fault) {
      return std::optional<TaskOutcome>(task_not_judged(task, fault));
    }
    const StudentBuild& with_help = found->second;
    // The submission's files may need each other: then there is no such program.
    const bool same_files = std::all_of(with_help.replaced.begin(), with_help.replaced.end(),
                                        [&](const auto& replaced) { return own.replaced.count(replaced.first) != 0; });
    if (with_help.program.empty() || !same_files) return std::optional<TaskOutcome>();
    const CheckRunner again{std::make_shared<RankServer>(judging.sandbox, with_help.program), seed, stall_seconds};
    return std::optional<TaskOutcome>(
        run_all_sizes(again, cases_of_task(cases, task), {{task, fine_part(unaided)}}).at(task));
  };
  if (!build.program.empty()) stand_ins.apply(tasks, outcome);
  withhold_dependents(rubric, withheld, outcome);
}

}  // namespace

LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& texts, const GradeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  launch::keep_freed_memory();
  use_threads(1);                    // results are small, and a pool of threads would compete with the ranks
  launch::compute_without_onednn();  // as the ranks do
  const std::vector<Case> cases = lab.cases();
  const std::vector<std::string> tasks = tasks_to_run(rubric, cases, options.only_task);
  LabOutcome outcome;
  outcome.lab = lab.folder;
  outcome.isolation = sandbox.level();
  outcome.seed = fmt::format("--seed {}", options.seed);
  for (const std::string& task : tasks) outcome.tasks[task].id = task;

  try {
    const Sandbox limited = sandbox.within(rubric.judging.budget_seconds);
    judge_tasks({lab, rubric, builder, limited, texts, options}, cases, tasks, outcome);
  } catch (const NotJudged& fault) {
    for (const std::string& task : tasks) outcome.tasks[task] = task_not_judged(task, fault);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace lab::grading
