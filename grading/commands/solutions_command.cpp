#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/checks/symptoms/symptom.h"
#include "grading/commands/commands.h"
#include "grading/commands/generated_solutions.h"
#include "grading/commands/solution_lab.h"
#include "grading/commands/todays_part.h"
#include "grading/judge/judge_lab.h"
#include "grading/solutions/generated/schemata_build.h"
#include "grading/solutions/solution_verdict.h"
#include "grading/solutions/table_run.h"

namespace lab::grading {
namespace {

using namespace generated;  // NOLINT: rows are compiled like those made by rule

// Where a mistake that depends on the number of ranks shows first: 4, and no power of two.
const std::vector<int> kQuickSizes = {4, 3};

/// Reads a lab's table. Errors: UsageError: a row does not fit, or names a cause that no check has
SolutionLab render_table(const JudgingPlace& place, const JudgedLab& lab, const char* programs) {
  const std::string path = fmt::format("{}/grading/solutions/{}.toml", place.root(), shorten_name(lab.folder));
  SolutionLab table = solution_lab(place, lab, programs, load_solutions(path).solutions);
  std::set<std::string> causes, checks;
  for (const std::string& id : symptom_ids()) causes.insert(id);
  for (const Case& one : lab.cases()) {
    checks.insert(one.name);
    for (const KnownMistake& mistake : one.known_mistakes) causes.insert(mistake.id);
  }
  for (const Solution& row : table.rows) {
    if (!row.symptom.empty() && causes.count(row.symptom) == 0)
      throw UsageError(fmt::format("{}: no check names a cause '{}'", row.place, row.symptom));
    for (const std::string& check : row.checks) {
      if (checks.count(check) == 0)
        throw UsageError(fmt::format("{}: {} has no check {}", row.place, lab.folder, check));
    }
  }
  return table;
}

/// "a9/mean_for_sum"; where a row has no name, its place.
std::string get_name(const SolutionLab& table, const Solution& row) {
  return row.name.empty() ? row.place : fmt::format("{}/{}", table.mutants.lab, row.name);
}

/// The student files of a row, as they would be handed in.
std::map<std::string, std::string> list_texts(const JudgingPlace& place, const SolutionLab& table, int id) {
  const Solution& row = table.rows[static_cast<std::size_t>(id - 1)];
  if (row.patch.empty()) return table.mutants.submission(id, table.recipe);
  std::map<std::string, std::string> reference;
  for (const StudentSource& source : table.recipe.sources) reference[source.name] = source.reference;
  return patched(fmt::format("{}/grading/solutions/{}", place.root(), row.patch), table.recipe.lab, reference);
}

/// Judges a row as a submission, in this process.
Verdict judged_here(const SolutionOptions& options, const JudgingPlace& place, const SolutionLab& table, int id) {
  Solution row = table.rows[static_cast<std::size_t>(id - 1)];
  if (row.task.empty() && !row.right) row.task = table.mutants.find(id)->task;
  // A right one may use only what is listed; a wrong one must fail, whoever has looked at it.
  const StudentBuilder builder = place.builder(table.lab, AcceptedSymbols(row.right ? "" : "*"));
  Rubric rubric = table.rubric;
  if (options.quick) {
    rubric.judging.ranks = kQuickSizes;
    rubric.judging.cheap_ranks.emplace();
  }
  GradeOptions order;
  order.seed = options.seed;
  return solution_verdict(row, rubric,
                          judge_lab(table.lab, rubric, builder, place.sandbox(), list_texts(place, table, id), order));
}

/// Judges each in its own process: this program with --result.
std::vector<Verdict> judged_apart(const SolutionOptions& options, const SolutionLab& table,
                                  const std::vector<int>& ids) {
  std::vector<Verdict> verdicts(ids.size());
  OwnProcesses work;
  work.count = ids.size();
  work.jobs = options.jobs;
  work.arguments = [&](std::size_t item) {
    const Solution& row = table.rows[static_cast<std::size_t>(ids[item] - 1)];
    std::vector<std::string> arguments = options.place.arguments();
    arguments.insert(arguments.begin(), {"solutions", get_name(table, row), "--seed", std::to_string(options.seed)});
    if (options.quick) arguments.emplace_back("--quick");
    return arguments;
  };
  work.ended = [&](std::size_t item, const Verdict& verdict) { verdicts[item] = verdict; };
  run_in_own_processes(work);
  return verdicts;
}

/// Tries rows on ranks that are threads.
/// Errors    UsageError: one does not compile
std::vector<Verdict> tried(const SolutionOptions& options, const JudgingPlace& place, const SolutionLab& table,
                           const std::vector<int>& ids) {
  if (ids.empty()) return {};
  const ObjectStore store(place.build() + "/grading/objects", place.sandbox());
  const SchemataProgram built = build_schemata(table.recipe, table.mutants.sources,
                                               std::set<int>(ids.begin(), ids.end()), store, place.sandbox());
  std::vector<std::string> refused;
  for (const auto& [id, message] : built.left_out)
    refused.push_back(
        fmt::format("{}: does not compile: {}", table.rows[static_cast<std::size_t>(id - 1)].place, message));
  if (!refused.empty()) throw UsageError(fmt::format("{}", fmt::join(refused, "\n")));
  const std::vector<Case> cases = table.lab.cases();
  const CheckedSizes checked = judged_sizes(table.lab, table.rubric);
  const std::vector<int> all = checked.all();
  TableRun run{cases,   table.rubric, table.rows, table.mutants, all, options.quick ? kQuickSizes : all,
               checked, options.jobs, {}};
  run.perform = [&](const TrialOrder& order) { return performed_by(built.program, order); };
  return run.run(ids);
}

struct Tried {
  int wrong = 0, caught = 0, right = 0, kept = 0;
};

/// The rows of a lab that are named; by their ids.
std::vector<int> chosen(const SolutionOptions& options, const SolutionLab& table) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Solution& row = table.rows[i];
    const bool named = std::any_of(options.names.begin(), options.names.end(), [&](const std::string& name) {
      return name == get_name(table, row) || (name.find('/') == std::string::npos && &judged_lab(name) == &table.lab);
    });
    const bool left_out = (options.quick && row.nightly) || !is_todays(i, options.days);
    if ((options.names.empty() || named) && !left_out) ids.push_back(static_cast<int>(i) + 1);
  }
  return ids;
}

/// Tries what is chosen of a lab, and prints a line for each task and for each row that is not as required.
std::size_t try_lab(const SolutionOptions& options, const JudgingPlace& place, const SolutionLab& table,
                    const std::vector<int>& ids) {
  std::vector<int> by_threads, by_judge;
  for (const int id : ids) (table.rows[static_cast<std::size_t>(id - 1)].judge ? by_judge : by_threads).push_back(id);
  std::map<int, Verdict> verdicts;
  std::vector<Verdict> some = tried(options, place, table, by_threads);
  for (std::size_t i = 0; i < some.size(); ++i) verdicts[by_threads[i]] = some[i];
  some = judged_apart(options, table, by_judge);
  for (std::size_t i = 0; i < some.size(); ++i) verdicts[by_judge[i]] = some[i];
  std::map<std::string, Tried> tasks;
  std::size_t num_not = 0;
  for (const auto& [id, verdict] : verdicts) {
    const Solution& row = table.rows[static_cast<std::size_t>(id - 1)];
    const SourceMutant* mutant = table.mutants.find(id);
    Tried& task = tasks[row.right ? "" : mutant == nullptr ? row.task : read_task(row, *mutant)];
    ++(row.right ? task.right : task.wrong);
    if (verdict.as_required) ++(row.right ? task.kept : task.caught);
    if (verdict.as_required && ids.size() > 1) continue;
    num_not += verdict.as_required ? 0 : 1;
    fmt::print("{}{}: {}; found: {}\n", row.place, row.name.empty() ? "" : " " + row.name,
               verdict.as_required ? "as required" : verdict.complaint,
               verdict.found.empty() ? "nothing" : verdict.found);
  }
  for (const auto& [task, count] : tasks) {
    if (task.empty())
      fmt::print("{:32} {:3} right solutions, {} keep all marks\n", table.lab.folder, count.right, count.kept);
    else
      fmt::print("{:32} {:3} wrong solutions, {} caught\n", task, count.wrong, count.caught);
  }
  std::fflush(stdout);
  return num_not;
}

ExitCode try_solutions(const SolutionOptions& options) {
  const JudgingPlace place(options.place);
  std::size_t num_tried = 0, num_not = 0;
  std::set<std::string> unknown(options.names.begin(), options.names.end());
  for (const JudgedLab& lab : judged_labs()) {
    const SolutionLab table = render_table(place, lab, options.result.empty() ? kTrialFolder : kRankFolder);
    for (const Solution& row : table.rows) unknown.erase(get_name(table, row));
    unknown.erase(table.mutants.lab);
    unknown.erase(lab.folder);
    const std::vector<int> ids = chosen(options, table);
    if (ids.empty()) continue;
    if (!options.result.empty()) {
      write_file_atomically(options.result, json_text(judged_here(options, place, table, ids.front())));
      return ExitCode::kAllMatch;
    }
    if (options.list) {
      for (const int id : ids) {
        const Solution& row = table.rows[static_cast<std::size_t>(id - 1)];
        fmt::print("{}  {}  {}\n", row.place, get_name(table, row), row.what.empty() ? row.sentence : row.what);
      }
      continue;
    }
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (!table.rows[i].patch.empty())
        list_texts(place, table, static_cast<int>(i) + 1);  // fits, also if it is not tried
    }
    num_tried += ids.size();
    num_not += try_lab(options, place, table, ids);
  }
  if (!unknown.empty())
    throw UsageError(
        fmt::format("solutions: unknown: {}; expected a lab or a row, as in --list", fmt::join(unknown, " or ")));
  if (!options.list) fmt::print("{} solutions tried; {} not as required\n", num_tried, num_not);
  return num_not == 0 ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void solutions_command(cli::App& app) {
  auto& options = app.own(SolutionOptions());
  options.place.add_to(app);
  app.add_argument("[NAME]...", options.names,
                   "a lab, such as a9, or a row of its table, such as a9/mean_for_sum; none: all");
  app.add_seed("--seed", options.seed, "of the inputs that the judge draws");
  app.add_flag("--quick", options.quick, "right ones on 4 and 3 ranks, and without those that are marked as nightly");
  app.add_integer("--days", options.days, {1, 365}, "try one of N parts, another one each day");
  app.add_integer("--jobs", options.jobs, {1, 64}, "solutions at a time");
  app.add_flag("--list", options.list, "prints them, and runs none");
  app.add_text("--result", options.result, "FILE", "judge one here, and leave its verdict as JSON");
  app.add_flag("--generated", options.generated, "those that are made by rule, of the labs that are named; none: all");
  app.add_integer("--sample", options.sample, {0, 1 << 20},
                  "with --generated: try this many of each lab, drawn by --seed");
  app.add_text("--only", options.only, "ID", "with --generated: one, such as a9:17");
  app.add_text("--rows", options.rows, "FILE", "with --generated and one lab: take them from this file, and make none");
  app.add_text("--task", options.tasks, "ID", "with --only and --result: judge this task alone");
  app.add_flag("--no-judge", options.no_judge, "with --generated: only what `lab check` runs, on all sizes");
  app.add_text("--json", options.report, "FILE", "with --generated: what became of each, as JSON");
  app.add_number("--expect-check", options.least_check, {-1, 100, "PERCENT"},
                 "with --generated: the least share that `lab check` must catch");
  app.add_number("--expect-judge", options.least_judge, {-1, 100, "PERCENT"},
                 "with --generated: the least share that the judge must catch");
  app.set_action([&] { return options.generated ? try_generated_solutions(options) : try_solutions(options); });
}

}  // namespace lab::grading
