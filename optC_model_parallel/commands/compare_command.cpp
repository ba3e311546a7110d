#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/curves.h"
#include "optC_model_parallel/commands/lab_options.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {
namespace {

/// One run and its reference, over all ranks.
struct ComparedRun {
  TrainingRun run;
  TrainingRecord parallel;        ///< from the rank that knows the losses; no parameters
  TrainingRecord reference;       ///< likewise
  std::vector<double> distances;  ///< after each epoch: ||parallel - reference|| / ||reference||, over all tensors
};

void put_curves(const std::string& prefix, TrainingRecord record, TensorMap& tensors) {
  record.parameters.clear();
  for (const auto& [name, tensor] : list_tensors(record)) tensors[prefix + name] = tensor;
}

TrainingRecord take_curves(const std::string& prefix, const TensorMap& tensors) {
  TensorMap own;
  for (const auto& [name, tensor] : tensors) {
    if (name.compare(0, prefix.size(), prefix) == 0) own[name.substr(prefix.size())] = tensor;
  }
  return make_record(own);
}

/// After each epoch: the squares of this rank's distance and of its reference, [epochs, 2].
at::Tensor squares(const TrainingRun& run, const TrainingRecord& own, const TrainingRecord& reference,
                   Communicator& comm) {
  const auto num_epochs = static_cast<std::int64_t>(own.parameters.size());
  const at::Tensor sums = at::zeros({num_epochs, 2}, at::kDouble);
  for (std::int64_t epoch = 0; epoch < num_epochs; ++epoch) {
    const TensorMap& mine = own.parameters[static_cast<std::size_t>(epoch)];
    const TensorMap expected =
        expected_share(run, mine, reference.parameters[static_cast<std::size_t>(epoch)], comm.rank(), comm.size());
    for (const auto& [name, tensor] : expected) {
      const at::Tensor wanted = tensor.to(at::kDouble);
      sums[epoch][0] += (mine.at(name).to(at::kDouble) - wanted).square().sum();
      sums[epoch][1] += wanted.square().sum();
    }
  }
  return sums;
}

TensorMap train_all(const std::vector<TrainingRun>& runs, const LabOptions& options, Communicator& comm) {
  const Dataset data = load_data_on_ranks(options, comm.collectives());
  const std::vector<TrainingRecord> references = train_references(runs, data, comm);
  TensorMap results;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrainingRun& run = runs[i];
    const std::unique_ptr<Strategy> strategy = parallel_strategy(run, comm);
    const bool speaks = comm.rank() == speaker(run, comm.size());
    TrainingProgress progress(run.name, run.training.num_epochs * data.train.size(), !speaks);
    TrainingEvents events;
    events.on_step = [&](std::int64_t num_images, double loss) { progress.step(num_images, loss); };
    const TrainingRecord record = run_training(run.training, data, *strategy, nullptr, events);
    results[run.name + ".squares"] = squares(run, record, references[i], comm);
    if (speaks) put_curves(run.name + ".parallel.", record, results);
    if (comm.rank() != 0) continue;
    put_curves(run.name + ".reference.", references[i], results);
  }
  return results;
}

ComparedRun put_together(const TrainingRun& run, const launch::WorldOutcome& outcome) {
  ComparedRun compared;
  compared.run = run;
  at::Tensor sums = at::zeros({run.training.num_epochs, 2}, at::kDouble);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    sums = sums + rank.tensors.at(run.name + ".squares");
    if (rank.tensors.count(run.name + ".parallel.losses") != 0)
      compared.parallel = take_curves(run.name + ".parallel.", rank.tensors);
  }
  const TensorMap& first = outcome.ranks.front().tensors;
  compared.reference = take_curves(run.name + ".reference.", first);
  for (std::int64_t epoch = 0; epoch < run.training.num_epochs; ++epoch)
    compared.distances.push_back(std::sqrt((sums[epoch][0] / sums[epoch][1]).item<double>()));
  return compared;
}

/// Trains the references and the runs, in one world of processes.
/// Call      this process must not have a thread pool yet
/// Errors    raises a failed rank's error
std::vector<ComparedRun> compare_runs(const std::vector<TrainingRun>& runs, const LabOptions& options, int num_ranks,
                                      double timeout_seconds) {
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = timeout_seconds;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return train_all(runs, options, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  std::vector<ComparedRun> compared;
  for (const TrainingRun& run : runs) compared.push_back(put_together(run, outcome));
  return compared;
}

constexpr const char* kUsualRuns = "gpipe,1f1b,interleaved,pair-norm,pipedream,pipedream-sync,pipedream-2bw";

std::vector<TrainingRun> runs_in(const std::string& list, const LabOptions& options, const ChosenOptimizer& optimizer,
                                 int num_ranks) {
  std::vector<TrainingRun> runs;
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
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

/// For the first epoch's steps, and for all.
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

/// Always in float32, in which the distance of two right trainings proves nothing.
bool is_same(const ComparedRun& compared) {
  if (!is_exact(compared.run.training)) return true;
  // NaN is not the same.
  const auto close = [](double distance) { return distance <= kExactTraining; };
  return std::all_of(compared.distances.begin(), compared.distances.end(), close) &&
         close(loss_difference(compared).all) && num_other_predictions(compared) == 0;
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
               !is_exact(one.run.training) ? "-" : is_same(one) ? "True" : "False");
  }
}

/// One set of pictures per model: its runs and their references. Runs with stale weights get a separate set.
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

ExitCode compare_all(const std::string& list, LabOptions options, const ChosenOptimizer& chosen,
                     const cli::CommonOptions& common) {
  if (options.training.num_epochs == 0) throw UsageError("--epochs: expected at least 1 to compare, got 0");
  finish(options, common);
  const std::vector<TrainingRun> runs = runs_in(list, options, chosen, common.num_ranks);
  check_data(options);
  make_folder("--out", common.out_dir);
  use_threads(1);  // there must be no thread pool before a fork

  const std::vector<ComparedRun> all = compare_runs(runs, options, common.num_ranks, common.timeout_seconds);
  fmt::print("{}, {}, {} epochs; differences are relative\n", counted(common.num_ranks, "rank"), options.dtype,
             options.training.num_epochs);
  print_table(all);
  write_pictures(all, common.out_dir);
  return std::all_of(all.begin(), all.end(), is_same) ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void compare_command(cli::App& app) {
  auto& options = app.own(LabOptions());
  auto& common = app.own(cli::CommonOptions());
  auto& list = app.own(std::string(kUsualRuns));
  app.add_text("--runs", list, "LIST", "pipeline schedules, and models for tensor parallelism");
  app.add_integer("--nproc", common.num_ranks, {1, 64}, "ranks");
  app.add_seed("--seed", common.seed, "of weights and of the order of images");
  app.add_timeout(common.timeout_seconds);
  app.add_text("--out", common.out_dir, "DIR", "folder of curves and tables");
  add_training_options(app, options);
  add_pipeline_options(app, options);
  app.set_action([&] {
    for (const char* fixed : {"--schedule", "--chunks"}) {
      if (app.given(fixed)) throw UsageError(fmt::format("compare: expected --runs instead, got {}", fixed));
    }
    const OptimizerOptions& asked = options.training.optimizer;
    ChosenOptimizer chosen;
    if (app.given("--optimizer")) chosen.kind = asked.kind;
    if (app.given("--lr")) chosen.learning_rate = asked.learning_rate;
    if (app.given("--momentum")) chosen.momentum = asked.momentum;
    return compare_all(list, options, chosen, common);
  });
}

}  // namespace lab::optc
