#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "common/base/files.h"
#include "grading/commands/commands.h"
#include "grading/commands/generated_mutants.h"
#include "grading/judge/judge_lab.h"
#include "grading/judge/judging_place.h"
#include "grading/mutants/mutant_index.h"
#include "grading/mutants/mutant_verdict.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {
namespace {

// Where a mistake that depends on the number of ranks shows first: 4, and no power of two.
const std::vector<int> kQuickSizes = {4, 3};

struct MutantOptions : GeneratedMutantsOptions {
  bool quick = false;  ///< without the nightly ones, on kQuickSizes
  bool generated = false;

  std::string folder() const { return place.source + "/grading/mutants"; }
};

bool is_named(const Mutant& mutant, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return name == mutant.name || name == mutant.lab || name == mutant.lab + "/";
         });
}

/// The student files of a mutant, as it would be handed in.
/// Errors    UsageError: its patch does not apply to the reference
std::map<std::string, std::string> texts_of(const Mutant& mutant, const MutantOptions& options,
                                            const BuildRecipe& recipe) {
  std::map<std::string, std::string> reference;
  for (const StudentSource& source : recipe.sources) reference[source.name] = source.reference;
  return mutated(mutant, options.folder(), recipe.lab, reference);
}

/// Judges one mutant as a submission.
Verdict judge_mutant(const Mutant& mutant, const MutantOptions& options) {
  const JudgingPlace place(options.place);
  const JudgedLab& lab = judged_lab(mutant.lab);
  // A variant may use only what is listed; a mutant must fail, whoever has looked at it.
  const StudentBuilder builder = place.builder(lab, AcceptedSymbols(mutant.is_variant() ? "" : "*"));
  const std::map<std::string, std::string> texts = texts_of(mutant, options, builder.recipe());
  Rubric rubric = place.rubric(lab);
  if (options.quick) {
    rubric.judging.ranks = kQuickSizes;
    rubric.judging.cheap_ranks.emplace();
  }
  GradeOptions order;
  order.seed = options.seed;
  return mutant_verdict(mutant, rubric, judge_lab(lab, rubric, builder, place.sandbox(), texts, order));
}

/// Judges each mutant in its own process: this program with --result. Returns how many are not as required.
std::size_t judge_all(const std::vector<Mutant>& mutants, const MutantOptions& options) {
  std::size_t num_wrong = 0;
  OwnProcesses work;
  work.count = mutants.size();
  work.jobs = options.jobs;
  work.arguments = [&](std::size_t item) {
    std::vector<std::string> arguments = options.place.arguments();
    arguments.insert(arguments.begin(), {"mutants", mutants[item].name, "--seed", std::to_string(options.seed)});
    if (options.quick) arguments.emplace_back("--quick");
    return arguments;
  };
  work.ended = [&](std::size_t item, const Verdict& verdict) {
    const Mutant& mutant = mutants[item];
    num_wrong += verdict.as_required ? 0 : 1;
    print_row(verdict, mutant.name,
              mutant.is_variant() ? "keeps all marks" : fmt::format("{} {}", mutant.task, verdict.symptom));
  };
  run_in_own_processes(work);
  return num_wrong;
}

/// Errors    UsageError: a patch that does not apply to the reference
void require_patches(const std::vector<Mutant>& mutants, const MutantOptions& options) {
  const JudgingPlace place(options.place);
  std::map<std::string, BuildRecipe> recipes;
  for (const Mutant& mutant : mutants) {
    BuildRecipe& recipe = recipes[mutant.lab];
    if (recipe.lab.empty()) recipe = load_build_recipe(place.root(), place.build(), judged_lab(mutant.lab).folder);
    texts_of(mutant, options, recipe);
  }
}

ExitCode judge_mutants(const MutantOptions& options) {
  std::vector<Mutant> mutants, left_out;
  for (const Mutant& mutant : load_mutants(options.folder())) {
    if (is_named(mutant, options.names)) (options.quick && mutant.nightly ? left_out : mutants).push_back(mutant);
  }
  require_patches(left_out, options);
  if (mutants.empty()) throw UsageError(fmt::format("mutants: there is no {}", fmt::join(options.names, " or ")));
  if (!options.result.empty()) {
    write_file_atomically(options.result, json_text(judge_mutant(mutants[0], options)));
    return ExitCode::kAllMatch;
  }
  const std::size_t wrong = judge_all(mutants, options);
  const auto variants =
      std::count_if(mutants.begin(), mutants.end(), [](const Mutant& mutant) { return mutant.is_variant(); });
  fmt::print("{} mutants and {} variants; {} not as required\n", mutants.size() - static_cast<std::size_t>(variants),
             variants, wrong);
  return wrong == 0 ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void mutants_command(cli::App& app) {
  auto& options = app.own(MutantOptions());
  options.place.add_to(app);
  app.add_argument("[NAME]...", options.names, "a lab, such as a9, or a mutant, such as a9/mean_for_sum; none: all");
  app.add_seed("--seed", options.seed, "of the inputs");
  app.add_flag("--quick", options.quick, "on 4 and 3 ranks, without those that are marked as nightly");
  app.add_integer("--jobs", options.jobs, {1, 64}, "mutants at a time");
  app.add_text("--result", options.result, "FILE", "judge one here, and leave its verdict as JSON");
  app.add_flag("--generated", options.generated,
               "mutants that are made by rule, of the labs that are named; none: all");
  app.add_integer("--sample", options.sample, {0, 1 << 20},
                  "with --generated: try only so many of each lab, drawn by --seed");
  app.add_flag("--contracts", options.contracts,
               "with --generated: those that break a sentence of a header, all of which must be caught");
  app.add_flag("--list", options.list, "with --generated: prints them, and runs none");
  app.add_text("--only", options.only, "ID", "with --generated: one, such as a9:17");
  app.add_text("--rows", options.rows, "FILE", "with --generated and one lab: take them from this file, and make none");
  app.add_text("--task", options.tasks, "ID", "with --only and --result: judge this task alone");
  app.add_flag("--no-judge", options.no_judge, "with --generated: only what `lab check` runs, on all sizes");
  app.add_text("--json", options.report, "FILE", "with --generated: what became of each, as JSON");
  app.add_number("--expect-check", options.least_check, {-1, 100, "PERCENT"},
                 "with --generated: the least share that `lab check` must catch");
  app.add_number("--expect-judge", options.least_judge, {-1, 100, "PERCENT"},
                 "with --generated: the least share that the judge must catch");
  app.set_action([&] { return options.generated ? judge_generated_mutants(options) : judge_mutants(options); });
}

}  // namespace lab::grading
