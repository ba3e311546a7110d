#include "grading/judge/judge_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/course/rubric/rubric_check.h"
#include "common/launch/one_rank.h"
#include "common/tensor/compute_threads.h"
#include "grading/judge/check_runs.h"
#include "grading/judge/claims.h"
#include "grading/judge/rules.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {
namespace {

/// Why a run that is right must wait for a look; empty: it need not.
std::string reason_to_look(const ClaimCheck& claims, const Case& test_case, int num_ranks, const CaseVerdict& run) {
  try {
    return claims.contradiction(test_case, num_ranks, run);
  } catch (const NotJudged& fault) {
    return fault.what();
  } catch (const BudgetSpent& spent) {
    return fmt::format("needs a look: a comparison with the reference was {}", spent.what());
  }
}

/// In place of runs that did not come about.
void add_missing(const std::vector<Case>& cases, Worth worth, const std::string& reason,
                 std::vector<CaseVerdict>& verdicts) {
  for (const Case& test_case : cases)
    verdicts.emplace_back(CaseVerdict{test_case.name, worth, reason}).task = test_case.task;
}

/// Runs the cases on one size after the other: each up to the first run that is not right, and none of a task any more
/// that has reached a TODO.
std::vector<CaseVerdict> run_sizes(const CheckRunner& runner, const CheckedSizes& sizes, const std::vector<Case>& cases,
                                   const ClaimCheck& claims) {
  std::vector<CaseVerdict> verdicts;
  std::set<std::string> lost;  // checks and tasks
  for (const int num_ranks : sizes.all()) {
    const bool shaken = num_ranks != sizes.all().front();  // what fails in order needs no disorder
    std::vector<Case> still;
    for (const Case& one : cases) {
      if (sizes.include(one, num_ranks) && lost.count(one.name) == 0 && lost.count(one.task) == 0)
        still.push_back(sizes.on(one, num_ranks));
    }
    std::vector<CaseVerdict> runs;
    try {
      runs = runner.run(num_ranks, still, shaken);
    } catch (const NotJudged& fault) {
      add_missing(still, Worth::kNotJudged, fault.what(), verdicts);
      return verdicts;
    } catch (const BudgetSpent& spent) {
      add_missing(still, Worth::kFailed, spent.what(), verdicts);
      return verdicts;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      CaseVerdict& run = verdicts.emplace_back(std::move(runs[i]));
      if (const std::string reason = run.passed() ? reason_to_look(claims, still[i], num_ranks, run) : "";
          !reason.empty()) {
        run.worth = Worth::kNotJudged;
        run.reason = reason;
      }
      if (!run.is_fine()) lost.insert(run.name);
      if (run.worth == Worth::kNotImplemented) lost.insert(run.task);
    }
  }
  return verdicts;
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

/// The submission's files, and the reference's in the place of those that nobody hands in.
std::map<std::string, std::string> with_given_files(std::map<std::string, std::string> texts, const Rubric& rubric,
                                                    const StudentBuilder& builder) {
  for (const StudentSource& source : builder.recipe().sources) {
    if (!is_below_any(source.name, rubric.hand_in.sources)) texts[source.name] = source.reference;
  }
  return texts;
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

/// Builds and runs, and notes what was seen. The submission's program ends with this; rules may ask for others.
/// Errors    NotJudged: the submission could not be built because of the machine
void collect_facts(const Judging& judging, Facts& facts, LabOutcome& outcome) {
  const auto& [lab, rubric, builder, sandbox, texts, options] = judging;
  const double stall_seconds = rubric.judging.stall_seconds;
  auto [build, server] = build_that_starts(builder, sandbox, stall_seconds, texts);
  const auto own = std::make_shared<const StudentBuild>(std::move(build));
  const auto claims = std::make_shared<const ClaimCheck>(reference_runner(judging));
  facts.files = student_files(builder);
  std::copy_if(facts.files.begin(), facts.files.end(), std::inserter(facts.own_files, facts.own_files.end()),
               [&](const std::string& file) { return own->is_own(file); });
  facts.left_out = own->replaced;
  for (const auto& [name, symbols] : own->needs_look) facts.to_look_at.insert(name);
  outcome.needs_look = own->needs_look;
  for (const auto& [name, reason] : own->replaced) {
    if (texts.count(name) != 0) outcome.notes.push_back(fmt::format("{}: {}", name, reason));
  }
  if (own->program.empty()) {
    outcome.notes.emplace_back("the program could not be linked, so nothing was run");
    return;
  }
  const std::uint64_t seed = options.seed;
  facts.runs.verdicts = run_sizes({std::move(server), seed, stall_seconds}, facts.sizes, facts.cases, *claims);
  const auto helped =
      std::make_shared<std::map<std::set<std::string>, StudentBuild>>();  // by the reference files in it
  facts.runs_with_reference = [=, &judging, all = facts.cases, sizes = facts.sizes](
                                  const std::string& task, const std::set<std::string>& reference,
                                  const std::set<std::string>& but_for) -> std::optional<Runs> {
    auto found = helped->find(reference);
    try {
      if (found == helped->end())
        found = helped->emplace(reference, judging.builder.build_again(*own, judging.texts, reference)).first;
    } catch (const NotJudged& fault) {
      return Runs{{}, fault.what()};
    }
    const StudentBuild& with_help = found->second;
    // The submission's files may need each other: then there is no such program.
    const bool same_files = std::all_of(with_help.replaced.begin(), with_help.replaced.end(),
                                        [&](const auto& replaced) { return own->replaced.count(replaced.first) != 0; });
    if (with_help.program.empty() || !same_files) return std::nullopt;
    std::vector<Case> cases;
    std::copy_if(all.begin(), all.end(), std::back_inserter(cases),
                 [&](const Case& one) { return one.task == task && but_for.count(one.name) == 0; });
    const CheckRunner again{std::make_shared<RankServer>(judging.sandbox, with_help.program), seed, stall_seconds};
    return Runs{run_sizes(again, sizes, cases, *claims), ""};
  };
}

}  // namespace

LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& submitted, const GradeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  launch::keep_freed_memory();
  use_threads(1);                    // results are small, and a pool of threads would compete with the ranks
  launch::compute_without_onednn();  // as the ranks do
  LabOutcome outcome;
  outcome.lab = lab.folder;
  outcome.isolation = sandbox.level();
  outcome.seed = fmt::format("--seed {}", options.seed);
  const std::vector<Case> cases = lab.cases();
  Facts facts{rubric, {}, judged_sizes(lab, rubric), tasks_to_run(rubric, cases, options.only_task)};
  facts.cases = cases_of_tasks(cases, facts.tasks);
  const Sandbox limited = sandbox.within(rubric.judging.budget_seconds);
  const std::map<std::string, std::string> texts = with_given_files(submitted, rubric, builder);
  const Judging judging{lab, rubric, builder, limited, texts, options};
  try {
    collect_facts(judging, facts, outcome);
  } catch (const NotJudged& fault) {
    facts.runs = {{}, fault.what()};
  }
  outcome.tasks = outcomes_by_rules(facts);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace lab::grading
