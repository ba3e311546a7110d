#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "common/report/app.h"
#include "common/report/counted.h"
#include "common/report/folder.h"
#include "optC_model_parallel/compare_runs.h"
#include "optC_model_parallel/curves.h"
#include "optC_model_parallel/parallel_strategies.h"
#include "optC_model_parallel/training_commands.h"
#include "optC_model_parallel/training_comparison.h"

namespace lab::optc {
namespace {

constexpr const char* kUsualRuns = "gpipe,1f1b,interleaved,pair-norm,pipedream,pipedream-sync,pipedream-2bw";

std::vector<TrainingRun> runs_in(const std::string& list, const LabOptions& options, const ChosenOptimizer& optimizer,
                                 int num_ranks) {
  std::vector<TrainingRun> runs;
  std::stringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    if (std::any_of(runs.begin(), runs.end(), [&](const TrainingRun& run) { return run.name == name; }))
      throw UsageError(fmt::format("--runs: expected each run once, got '{}' twice", name));
    TrainingRun run = run_named(name, options.training, options.pipeline);
    if (run.parallelism == Parallelism::kPipeline) run.training.model = usual_model(run.pipeline, num_ranks);
    run.training.optimizer = optimizer_for(run.training.model, optimizer);
    check_run(run, num_ranks, /*has_model_option=*/false);
    runs.push_back(std::move(run));
  }
  if (runs.empty()) throw UsageError("--runs: expected at least one run, got none");
  return runs;
}

/// Of the first epoch's steps, and of all.
struct LossDifference {
  double first_epoch = 0;
  double all = 0;
};

LossDifference loss_difference(const ComparedRun& compared) {
  const auto num_steps = static_cast<std::int64_t>(compared.reference.losses.size());
  const std::int64_t num_epochs = std::max<std::int64_t>(1, compared.run.training.num_epochs);
  const auto of = [&](std::int64_t steps) {
    return largest_loss_difference(compared.parallel.losses, compared.reference.losses, steps);
  };
  return {of(num_steps / num_epochs), of(num_steps)};
}

std::int64_t num_other_predictions(const ComparedRun& compared) {
  return compared.parallel.predictions.ne(compared.reference.predictions).sum().item<std::int64_t>();
}

bool is_same(const ComparedRun& compared) {
  const bool exact = is_exact(compared.run.training);
  // NaN is not the same.
  const auto close = [](double distance) { return distance <= kExactTraining; };
  return exact ? std::all_of(compared.distances.begin(), compared.distances.end(), close) &&
                     close(loss_difference(compared).all) && num_other_predictions(compared) == 0
               : compared.steps_are_right;
}

void print_table(const std::vector<ComparedRun>& all) {
  fmt::print("{:<15} {:<9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}  {}\n", "", "", "weights", "weights", "losses",
             "losses", "accuracy", "one", "predictions", "");
  fmt::print("{:<15} {:<9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}  {}\n", "run", "model", "epoch 1", "at end",
             "epoch 1", "all", "", "process", "that differ", "same");
  for (const ComparedRun& one : all) {
    const LossDifference losses = loss_difference(one);
    fmt::print("{:<15} {:<9} {:>9.1e} {:>9.1e} {:>9.1e} {:>9.1e} {:>9.4f} {:>11.4f} {:>11}  {}\n", one.run.name,
               one.run.training.model, one.distances.front(), one.distances.back(), losses.first_epoch, losses.all,
               one.parallel.accuracies.back(), one.reference.accuracies.back(), num_other_predictions(one),
               is_same(one) ? "True" : "False");
  }
}

/// In float32: by what the last column was decided.
void print_gradients(const std::vector<ComparedRun>& all) {
  for (const ComparedRun& one : all) {
    if (is_exact(one.run.training)) continue;
    fmt::print("{}: gradients, each with the run's own weights, at most {:.1e} from float64's (relative norm)\n",
               one.run.name, one.gradient_distance);
  }
}

/// A set of pictures for the runs with the same model: what they must equal, and what they are. Stale weights apart,
/// beside the same model without.
void write_pictures(const std::vector<ComparedRun>& all, const std::string& folder) {
  std::vector<std::string> done;
  for (const ComparedRun& first : all) {
    const std::string group = first.run.is_stale() ? "pipedream" : first.run.training.model;
    if (std::find(done.begin(), done.end(), group) != done.end()) continue;
    done.push_back(group);
    std::vector<NamedRecord> records;
    std::vector<std::string> references;
    for (const ComparedRun& one : all) {
      if ((one.run.is_stale() ? "pipedream" : one.run.training.model) != group) continue;
      const std::string key = reference_key(one.run);
      if (std::find(references.begin(), references.end(), key) == references.end()) {
        references.push_back(key);
        const std::string name = one.run.is_stale() ? one.run.name + " by formula" : "one process";
        records.push_back({name, one.reference, true});
      }
      records.push_back({one.run.name, one.parallel, false});
    }
    for (const std::string& path : write_curves(records, folder, "optC_" + group)) fmt::print("written: {}\n", path);
  }
}

}  // namespace

ExitCode compare_command(int argc, char** argv) {
  LabOptions options;
  CommonOptions common;
  std::string list = kUsualRuns;
  App app("optC_model_parallel compare", "Trains in several ways at once and each way in one process, side by side.");
  app.add_text("--runs", list, "LIST", "schedules (of pipelines) and models (for tensor parallelism)");
  app.add_whole_number("--nproc", common.num_ranks, {1, 64}, "ranks");
  app.add_seed("--seed", common.seed, "of weights and of the order of images");
  app.add_timeout(common.timeout_seconds);
  app.add_text("--out", common.out_dir, "DIR", "folder of curves and tables");
  add_training_options(app, options);
  add_pipeline_options(app, options);
  if (const auto done = app.parse(argc, argv)) return *done;
  for (const char* fixed : {"--schedule", "--chunks"}) {
    if (app.given(fixed)) throw UsageError(fmt::format("compare: expected --runs to say it, got {}", fixed));
  }
  if (options.training.num_epochs == 0) throw UsageError("--epochs: expected at least 1 to compare, got 0");
  finish(options, common);
  const OptimizerOptions& asked = options.training.optimizer;
  ChosenOptimizer chosen;
  if (app.given("--optimizer")) chosen.kind = asked.kind;
  if (app.given("--lr")) chosen.learning_rate = asked.learning_rate;
  if (app.given("--momentum")) chosen.momentum = asked.momentum;
  const std::vector<TrainingRun> runs = runs_in(list, options, chosen, common.num_ranks);
  check_data(options);
  make_folder("--out", common.out_dir);
  at::set_num_threads(1);  // before a fork there must be no pool of threads

  const std::vector<ComparedRun> all = compare_runs(runs, options, common.num_ranks, common.timeout_seconds);
  fmt::print("{}, {}, {} epochs; differences are relative\n", counted(common.num_ranks, "rank"), options.dtype,
             options.training.num_epochs);
  print_table(all);
  print_gradients(all);
  write_pictures(all, common.out_dir);
  return std::all_of(all.begin(), all.end(), is_same) ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace lab::optc
