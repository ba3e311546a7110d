#include "grading/commands/generated_mutants.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/judge/judge_lab.h"
#include "grading/mutants/generated/campaign.h"
#include "grading/mutants/generated/fates_report.h"
#include "grading/mutants/generated/lab_mutants.h"
#include "grading/mutants/generated/schemata_build.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {
namespace {

using namespace generated;  // NOLINT: what this command is about

constexpr double kMostEquivalent = 10;  // percent

std::string short_name(const JudgedLab& lab) {
  return lab.folder.substr(0, lab.folder.find('_'));
}

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
  command.argv = {place.root() + "/grading/mutants/generate.py", place.root(), place.build(), lab.folder};
  const ProgramEnd end = run_program(command);
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == kNoBindings)
    throw UsageError("mutants made by rule need libclang for Python; hint: apt-get install python3-clang-16");
  if (!end.well()) throw UsageError(fmt::format("generate.py {}", end.message()));
  write_file_atomically(file, end.out);
}

/// What this command has of a lab.
struct MutatedLab {
  const JudgedLab& lab;
  Rubric rubric;
  BuildRecipe recipe;
  LabMutants mutants;
};

/// With the mutants of a file of rows, if it is named, and those that break a contract.
MutatedLab mutated_lab(const JudgingPlace& place, const JudgedLab& lab, const char* programs, const std::string& rows) {
  Rubric rubric = place.rubric(lab);
  BuildRecipe recipe = load_build_recipe(place.root(), place.build(), lab.folder, programs);
  const std::string name = short_name(lab);
  const std::vector<Contract> contracts =
      load_contracts(fmt::format("{}/grading/mutants/contracts/{}.toml", place.root(), name));
  LabMutants mutants =
      lab_mutants(name, recipe, rubric, contracts, rows.empty() ? std::vector<SolutionRow>() : load_rows(rows));
  return {lab, std::move(rubric), std::move(recipe), std::move(mutants)};
}

/// Breaks a sentence of a header: must be caught. The others are made by rule, and a share of them must be.
bool is_written(const SourceMutant& mutant) {
  return mutant.rule == kContractRule;
}

Tally tally_of_rule(const std::vector<Fate>& fates, bool written) {
  std::vector<Fate> some;
  std::copy_if(fates.begin(), fates.end(), std::back_inserter(some),
               [&](const Fate& fate) { return is_written(*fate.mutant) == written; });
  return tally_of(some);
}

std::string first_loss(const TaskOutcome& task) {
  for (const CaseVerdict& check : task.checks) {
    if (!check.is_fine()) return fmt::format("{}: {}: {}", task.id, check.name, check.reason);
  }
  return fmt::format("{}: {}", task.id, task.reason);
}

/// Judges one mutant as a submission, in this process.
Verdict judged_here(const GeneratedMutantsOptions& options) {
  const JudgingPlace place(options.place);
  const auto [lab_name, id] = lab_and_id(options.only);
  const MutatedLab lab = mutated_lab(place, judged_lab(lab_name), kRankFolder, options.rows);
  const SourceMutant* mutant = lab.mutants.find(id);
  if (mutant == nullptr) throw UsageError(fmt::format("--only {}: there is no such mutant", options.only));
  GradeOptions order;
  order.seed = options.seed;
  order.only_task = options.tasks;
  const StudentBuilder builder = place.builder(lab.lab, AcceptedSymbols("*"));
  const LabOutcome outcome =
      judge_lab(lab.lab, lab.rubric, builder, place.sandbox(), lab.mutants.submission(*mutant, lab.recipe), order);
  Verdict judged;
  for (const auto& [task, result] : outcome.tasks) {
    if (result.passed() || (judged.as_required && !judged.found.empty())) continue;
    // What the machine kept from being judged says nothing.
    judged.as_required = !result.not_judged();
    judged.found = one_line(first_loss(result)).substr(0, 300);
  }
  return judged;
}

std::vector<Verdict> judged_apart(const GeneratedMutantsOptions& options, const std::string& lab,
                                  const std::string& rows,
                                  const std::vector<std::pair<int, std::set<std::string>>>& mutants) {
  std::vector<Verdict> judged(mutants.size());
  OwnProcesses work;
  work.count = mutants.size();
  work.jobs = options.jobs;
  work.arguments = [&](std::size_t item) {
    const auto& [id, tasks] = mutants[item];
    std::vector<std::string> arguments = options.place.arguments();
    arguments.insert(arguments.begin(), {"mutants", "--generated", "--only", fmt::format("{}:{}", lab, id), "--seed",
                                         std::to_string(options.seed)});
    if (!rows.empty()) arguments.insert(arguments.end(), {"--rows", rows});
    if (tasks.size() == 1) arguments.insert(arguments.end(), {"--task", *tasks.begin()});
    return arguments;
  };
  work.ended = [&](std::size_t item, const Verdict& verdict) { judged[item] = verdict; };
  run_in_own_processes(work);
  return judged;
}

std::vector<TrialReport> performed_by(const std::string& program, const TrialOrder& order) {
  if (order.trials.empty()) return {};
  ProcessSpec command;
  command.argv = {program};
  command.input = json_text(order);
  const ProgramEnd end = run_program(command);
  if (!end.well()) throw UsageError(fmt::format("{} {}", program, end.message()));
  std::vector<TrialReport> reports;
  for (const std::string& line : lines_of(end.out))
    reports.push_back(from_json_text<TrialReport>(line, "a report of " + program));
  return reports;
}

std::vector<int> chosen_ids(const GeneratedMutantsOptions& options, const LabMutants& mutants) {
  if (!options.only.empty()) return {lab_and_id(options.only).second};
  std::vector<int> written, made;
  for (const SourceMutant* mutant : mutants.all()) (is_written(*mutant) ? written : made).push_back(mutant->id);
  const bool all = options.sample == 0 && !options.contracts;
  std::vector<int> ids;
  if (all || options.contracts) ids = written;
  const std::size_t count = all ? made.size() : static_cast<std::size_t>(options.sample);
  for (const std::size_t index : sample_of(made.size(), count, options.seed)) ids.push_back(made[index]);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<Fate> fates_of(const GeneratedMutantsOptions& options, const JudgingPlace& place, const MutatedLab& lab,
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

bool is_asked(const GeneratedMutantsOptions& options, const JudgedLab& lab) {
  const std::string name = short_name(lab);
  if (!options.only.empty()) return lab_and_id(options.only).first == name;
  return options.names.empty() || std::any_of(options.names.begin(), options.names.end(),
                                              [&](const std::string& asked) { return &judged_lab(asked) == &lab; });
}

}  // namespace

ExitCode judge_generated_mutants(const GeneratedMutantsOptions& options) {
  if (!options.result.empty()) {
    write_file_atomically(options.result, json_text(judged_here(options)));
    return ExitCode::kAllMatch;
  }
  const JudgingPlace place(options.place);
  const std::vector<Equivalent> equivalents =
      load_equivalents(place.root() + "/grading/mutants/generated/equivalent.toml");
  std::vector<std::pair<std::string, Tally>> rows;
  Tally sum, written, made;
  std::string survivors;
  const launch::RunDirectory scratch;
  const bool made_by_rule = !options.contracts || options.sample > 0 || !options.only.empty();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const JudgedLab& lab : judged_labs()) {
    if (!is_asked(options, lab)) continue;
    const auto start = std::chrono::steady_clock::now();
    std::string rows_file = options.rows;
    if (made_by_rule && rows_file.empty()) {
      rows_file = fmt::format("{}/{}.toml", scratch.path(), short_name(lab));
      write_rows(place, lab, rows_file);
    }
    const MutatedLab mutated = mutated_lab(place, lab, kTrialFolder, rows_file);
    if (options.list) {
      for (const int id : chosen_ids(options, mutated.mutants)) {
        const SourceMutant& one = *mutated.mutants.find(id);
        fmt::print("{}:{}  {}/{}:{}  {}  {}: {}\n", mutated.mutants.lab, id, lab.folder, one.file, one.line, one.task,
                   one.rule, one.what);
      }
      continue;
    }
    const std::vector<Fate> fates = fates_of(options, place, mutated, rows_file, equivalents);
    std::map<std::string, std::vector<Fate>> by_task;
    for (const Fate& fate : fates) by_task[fate.mutant->task].push_back(fate);
    for (const auto& [task, some] : by_task) rows.emplace_back("  " + task, tally_of(some));
    Tally tally = tally_of(fates);
    tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rows.emplace_back(mutated.mutants.lab, tally);
    sum += tally;
    written += tally_of_rule(fates, true);
    made += tally_of_rule(fates, false);
    survivors += text_of_survivors(lab.folder, mutated.mutants.lab, fates);
    add_json(all, mutated.mutants.lab, fates);
  }
  if (options.list) return ExitCode::kAllMatch;
  rows.emplace_back("all", sum);
  fmt::print("{}\n{}", survivors, table_of(rows));
  if (!options.report.empty())
    write_file_atomically(options.report,
                          all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  bool enough = true;
  if (written.made > 0) {
    const int caught = written.by_check + written.by_judge;
    fmt::print("{} of {} broken sentences caught\n", caught, written.made);
    enough = caught == written.made;
  }
  if (made.made > 0) {
    const auto is_enough = [&](double percent, int found, int tried) {
      return is_share_at_least(percent, found, tried, options.sample > 0);
    };
    const int tried = made.compiled - made.explained;
    enough = enough && is_enough(options.least_check, made.by_check, tried) &&
             (options.no_judge || is_enough(options.least_judge, made.by_check + made.by_judge, tried)) &&
             is_enough(100 - kMostEquivalent, tried, made.compiled);
    fmt::print(
        "made by rule: caught by check {:.1f} %, expected {:.1f}; with the judge {:.1f} %, expected {:.1f}; "
        "equivalent {:.1f} %, at most {:.0f}{}\n",
        made.check_share(), options.least_check, made.judge_share(), options.least_judge, made.equivalent_share(),
        kMostEquivalent, options.sample > 0 ? "; a sample may miss them by chance" : "");
  }
  return enough ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace lab::grading
