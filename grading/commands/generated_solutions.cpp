#include "grading/commands/generated_solutions.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/commands/solution_lab.h"
#include "grading/judge/judge_lab.h"
#include "grading/processes/own_processes.h"
#include "grading/solutions/generated/campaign.h"
#include "grading/solutions/generated/fates_report.h"
#include "grading/solutions/generated/lab_mutants.h"
#include "grading/solutions/generated/schemata_build.h"

namespace lab::grading {
namespace {

using namespace generated;  // NOLINT: what this command is about

constexpr double kMostEquivalent = 10;  // percent

/// "a9:17"
std::pair<std::string, int> lab_and_id(const std::string& name) {
  const std::size_t colon = name.find(':');
  const int id = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
  if (id <= 0) throw UsageError(fmt::format("--only {}: expected a lab and a number, such as a9:17", name));
  return {name.substr(0, colon), id};
}

constexpr int kNoBindings = 77;  ///< how generate.py ends where it cannot work

/// The lab's mutants that are made by rule, as rows in a file.
/// Errors    UsageError: they cannot be made
void write_rows(const JudgingPlace& place, const JudgedLab& lab, const std::string& file) {
  ProcessSpec command;
  command.argv = {place.root() + "/grading/solutions/generate.py", place.root(), place.build(), lab.folder};
  const ProgramEnd end = run_program(command);
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == kNoBindings)
    throw UsageError("mutants made by rule need libclang for Python; hint: apt-get install python3-clang-16");
  if (!end.well()) throw UsageError(fmt::format("generate.py {}", end.message()));
  write_file_atomically(file, end.out);
}

std::string first_loss(const TaskOutcome& task) {
  for (const CaseVerdict& check : task.checks) {
    if (!check.is_fine()) return fmt::format("{}: {}: {}", task.id, check.name, check.reason);
  }
  return fmt::format("{}: {}", task.id, task.reason);
}

/// Judges one mutant as a submission, in this process.
Verdict judged_here(const SolutionOptions& options) {
  const JudgingPlace place(options.place);
  const auto [lab_name, id] = lab_and_id(options.only);
  const SolutionLab lab =
      solution_lab(place, judged_lab(lab_name), kRankFolder, load_solutions(options.rows).solutions);
  if (lab.mutants.find(id) == nullptr)
    throw UsageError(fmt::format("--only {}: unknown; --list prints all IDs", options.only));
  GradeOptions order;
  order.seed = options.seed;
  order.only_task = options.tasks;
  const StudentBuilder builder = place.builder(lab.lab, AcceptedSymbols("*"));
  const LabOutcome outcome =
      judge_lab(lab.lab, lab.rubric, builder, place.sandbox(), lab.mutants.submission(id, lab.recipe), order);
  Verdict judged;
  for (const auto& [task, result] : outcome.tasks) {
    if (result.passed() || (judged.as_required && !judged.found.empty())) continue;
    // What the machine kept from being judged says nothing.
    judged.as_required = !result.not_judged();
    judged.found = one_line(first_loss(result)).substr(0, 300);
  }
  return judged;
}

std::vector<Verdict> judged_apart(const SolutionOptions& options, const std::string& lab, const std::string& rows,
                                  const std::vector<std::pair<int, std::set<std::string>>>& mutants) {
  std::vector<Verdict> judged(mutants.size());
  OwnProcesses work;
  work.count = mutants.size();
  work.jobs = options.jobs;
  work.arguments = [&](std::size_t item) {
    const auto& [id, tasks] = mutants[item];
    std::vector<std::string> arguments = options.place.arguments();
    arguments.insert(arguments.begin(), {"solutions", "--generated", "--only", fmt::format("{}:{}", lab, id), "--seed",
                                         std::to_string(options.seed)});
    arguments.insert(arguments.end(), {"--rows", rows});
    if (tasks.size() == 1) arguments.insert(arguments.end(), {"--task", *tasks.begin()});
    return arguments;
  };
  work.ended = [&](std::size_t item, const Verdict& verdict) { judged[item] = verdict; };
  run_in_own_processes(work);
  return judged;
}

std::vector<int> chosen_ids(const SolutionOptions& options, const LabMutants& mutants) {
  if (!options.only.empty()) return {lab_and_id(options.only).second};
  std::vector<int> all, ids;
  for (const SourceMutant* mutant : mutants.all()) all.push_back(mutant->id);
  const std::size_t count = options.sample == 0 ? all.size() : static_cast<std::size_t>(options.sample);
  for (const std::size_t index : take_sample(all.size(), count, options.seed)) ids.push_back(all[index]);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<Fate> list_fates(const SolutionOptions& options, const JudgingPlace& place, const SolutionLab& lab,
                             const std::string& rows, const std::vector<Equivalent>& equivalents) {
  const std::vector<int> ids = chosen_ids(options, lab.mutants);
  const ObjectStore store(place.build() + "/grading/objects", place.sandbox());
  const auto say = [&](const std::string& what) {
    fmt::print("{}: {}\n", lab.mutants.lab, what);
    std::fflush(stdout);
  };
  const SchemataProgram built =
      build_schemata(lab.recipe, lab.mutants.sources, std::set<int>(ids.begin(), ids.end()), store, place.sandbox());
  say(fmt::format("{} made, {} of them do not compile; {} rounds of compiling", ids.size(), built.left_out.size(),
                  built.rounds));
  const std::vector<Case> cases = lab.lab.cases();
  Campaign campaign{
      cases, judged_sizes(lab.lab, lab.rubric), lab.mutants, equivalents, lab.lab.folder, options.jobs, 42, {}, {},
      say};
  campaign.perform = [&](const TrialOrder& order) { return performed_by(built.program, order); };
  if (!options.no_judge)
    campaign.judge = [&](const auto& some) { return judged_apart(options, lab.mutants.lab, rows, some); };
  return campaign.run(ids, built.left_out);
}

bool is_asked(const SolutionOptions& options, const JudgedLab& lab) {
  const std::string name = shorten_name(lab.folder);
  if (!options.only.empty()) return lab_and_id(options.only).first == name;
  return options.names.empty() || std::any_of(options.names.begin(), options.names.end(),
                                              [&](const std::string& asked) { return &judged_lab(asked) == &lab; });
}

}  // namespace

ExitCode try_generated_solutions(const SolutionOptions& options) {
  if (!options.result.empty()) {
    write_file_atomically(options.result, json_text(judged_here(options)));
    return ExitCode::kAllMatch;
  }
  const JudgingPlace place(options.place);
  const std::vector<Equivalent> equivalents =
      load_equivalents(place.root() + "/grading/solutions/generated/equivalent.toml");
  std::vector<std::pair<std::string, Tally>> rows;
  Tally sum;
  std::string survivors;
  const launch::RunDirectory scratch;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const JudgedLab& lab : judged_labs()) {
    if (!is_asked(options, lab)) continue;
    const auto start = std::chrono::steady_clock::now();
    std::string rows_file = options.rows;
    if (rows_file.empty()) {
      rows_file = fmt::format("{}/{}.toml", scratch.path(), shorten_name(lab.folder));
      write_rows(place, lab, rows_file);
    }
    const SolutionLab mutated = solution_lab(place, lab, kTrialFolder, load_solutions(rows_file).solutions);
    if (options.list) {
      for (const int id : chosen_ids(options, mutated.mutants)) {
        const SourceMutant& one = *mutated.mutants.find(id);
        fmt::print("{}:{}  {}/{}:{}  {}  {}: {}\n", mutated.mutants.lab, id, lab.folder, one.file, one.line, one.task,
                   one.rule, one.what);
      }
      continue;
    }
    const std::vector<Fate> fates = list_fates(options, place, mutated, rows_file, equivalents);
    std::map<std::string, std::vector<Fate>> by_task;
    for (const Fate& fate : fates) by_task[fate.mutant->task].push_back(fate);
    for (const auto& [task, some] : by_task) rows.emplace_back("  " + task, count_fates(some));
    Tally tally = count_fates(fates);
    tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rows.emplace_back(mutated.mutants.lab, tally);
    sum += tally;
    survivors += text_of_survivors(lab.folder, mutated.mutants.lab, fates);
    add_json(all, mutated.mutants.lab, fates);
  }
  if (options.list) return ExitCode::kAllMatch;
  rows.emplace_back("all", sum);
  fmt::print("{}\n{}", survivors, render_table(rows));
  if (!options.report.empty())
    write_file_atomically(options.report,
                          all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  const auto is_enough = [&](double percent, int found, int tried) {
    return is_share_at_least(percent, found, tried, options.sample > 0);
  };
  const int tried = sum.compiled - sum.explained;
  const bool enough = is_enough(options.least_check, sum.by_check, tried) &&
                      (options.no_judge || is_enough(options.least_judge, sum.by_check + sum.by_judge, tried)) &&
                      is_enough(100 - kMostEquivalent, tried, sum.compiled);
  fmt::print(
      "caught by check {:.1f} %, expected {:.1f}; with the judge {:.1f} %, expected {:.1f}; equivalent {:.1f} %, at "
      "most "
      "{:.0f}{}\n",
      sum.check_share(), options.least_check, sum.judge_share(), options.least_judge, sum.equivalent_share(),
      kMostEquivalent, options.sample > 0 ? "; a sample may miss them by chance" : "");
  return enough ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace lab::grading
