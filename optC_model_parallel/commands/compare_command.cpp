#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/curves.h"
#include "optC_model_parallel/commands/training_run.h"

namespace lab::optc {
namespace {

/// One run and its reference, over all ranks.
struct ComparedRun {
  TrainingRun run;
  TrainingRecord parallel, reference;  ///< from a rank that knows the losses; no parameters
  std::vector<double> distances;  ///< after each epoch: ||parallel - reference|| / ||reference||, on the worst rank

  Comparison losses() const { return compare_losses(parallel.losses, reference.losses); }
  std::int64_t num_other_predictions() const {
    return parallel.predictions.ne(reference.predictions).sum().item<std::int64_t>();
  }
  /// Always in float32, in which the distance of two right trainings proves nothing. NaN is not the same.
  bool is_same() const {
    return !is_exact(run.training) ||
           (std::all_of(distances.begin(), distances.end(), [](double far) { return far <= kExactTraining; }) &&
            losses().close && num_other_predictions() == 0);
  }
};

/// What a rank knows of its runs: the distances of its own weights, and the records without weights.
TensorMap train_all(const std::vector<TrainingRun>& runs, const LabOptions& options, Communicator& comm) {
  const Dataset data = load_data_on_ranks(options, comm.collectives());
  std::vector<TrainingRecord> references = train_references(runs, data, comm);
  TensorMap results;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrainingRun& run = runs[i];
    const bool speaks = comm.rank() == run.speaker(comm.size());
    TrainingRecord record = train_visibly(run.name, run.training, data, *run.parallel_strategy(comm), !speaks);
    std::vector<double> distances;
    for (std::size_t epoch = 0; epoch < record.parameters.size(); ++epoch) {
      const TensorMap& own = record.parameters[epoch];
      const TensorMap expected = expected_share(run, own, references[i].parameters[epoch], comm.rank(), comm.size());
      distances.push_back(compare_parameters(own, expected).relative_norm);
    }
    results[run.name + ".distances"] = at::tensor(distances, at::kDouble);
    if (!speaks) continue;
    record.parameters.clear();
    references[i].parameters.clear();
    for (const auto& [name, tensor] : list_tensors(record)) results[run.name + ".parallel." + name] = tensor;
    for (const auto& [name, tensor] : list_tensors(references[i])) results[run.name + ".reference." + name] = tensor;
  }
  return results;
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
  for (const TrainingRun& run : runs) {
    const TensorMap& spoken = outcome.ranks[static_cast<std::size_t>(run.speaker(num_ranks))].tensors;
    at::Tensor distances = spoken.at(run.name + ".distances");
    for (const launch::RankOutcome& rank : outcome.ranks)
      distances = at::maximum(distances, rank.tensors.at(run.name + ".distances"));
    compared.push_back({run, make_record(tensors_after(run.name + ".parallel.", spoken)),
                        make_record(tensors_after(run.name + ".reference.", spoken)), doubles_in(distances)});
  }
  return compared;
}

/// The runs of these names. `chosen`: the user wants a certain optimizer; otherwise vit's is Adam with a learning rate of
/// 1e-3, and that of all others OptimizerOptions{}.
std::vector<TrainingRun> make_runs(const std::string& list, const LabOptions& options, bool chosen, int num_ranks) {
  std::vector<TrainingRun> runs;
  for (const std::string_view name : split(list, ',')) {
    if (std::any_of(runs.begin(), runs.end(), [&](const TrainingRun& run) { return run.name == name; }))
      throw UsageError(fmt::format("--runs: expected each run once, got '{}' twice", name));
    TrainingRun run = run_named(std::string(name), options.training, options.pipeline);
    if (!run.is_tensor) run.training.model = usual_model(run.pipeline, num_ranks);
    if (!chosen && run.training.model == "vit") run.training.optimizer = {"adam", 1e-3, 0};
    run.check(num_ranks);
    runs.push_back(std::move(run));
  }
  return runs;
}

void print_table(const std::vector<ComparedRun>& all) {
  fmt::print("{:<15} {:<9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}  {}\n", "", "", "weights", "weights", "losses",
             "accuracy", "one", "predictions", "");
  fmt::print("{:<15} {:<9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}  {}\n", "run", "model", "epoch 1", "at end", "", "",
             "process", "that differ", "same");
  for (const ComparedRun& one : all) {
    fmt::print("{:<15} {:<9} {:>9.1e} {:>9.1e} {:>9.1e} {:>9.4f} {:>11.4f} {:>11}  {}\n", one.run.name,
               one.run.training.model, one.distances.front(), one.distances.back(), one.losses().relative_norm,
               one.parallel.accuracies.back(), one.reference.accuracies.back(), one.num_other_predictions(),
               !is_exact(one.run.training) ? "-"
               : one.is_same()             ? "True"
                                           : "False");
  }
}

/// One set of pictures per model: its runs and their references. Runs with stale weights get a separate set.
void write_pictures(const std::vector<ComparedRun>& all, const std::string& folder) {
  std::map<std::string, std::vector<NamedRecord>> groups;
  std::set<std::string> drawn;  // references
  for (const ComparedRun& one : all) {
    std::vector<NamedRecord>& group = groups[one.run.is_stale() ? "pipedream" : one.run.training.model];
    if (drawn.insert(one.run.reference_key()).second) group.push_back({one.run.reference_name(), one.reference, true});
    group.push_back({one.run.name, one.parallel, false});
  }
  for (const auto& [group, records] : groups) {
    for (const std::string& path : write_curves(records, folder, "optC_" + group)) fmt::print("written: {}\n", path);
  }
}

ExitCode compare_all(const std::string& list, LabOptions options, bool chosen, const cli::CommonOptions& common) {
  if (options.training.num_epochs == 0) throw UsageError("--epochs: expected at least 1 to compare, got 0");
  finish(options, common);
  const std::vector<TrainingRun> runs = make_runs(list, options, chosen, common.num_ranks);
  check_data(options);
  make_folder("--out", common.out_dir);
  use_threads(1);  // there must be no thread pool before a fork

  const std::vector<ComparedRun> all = compare_runs(runs, options, common.num_ranks, common.timeout_seconds);
  fmt::print("{}, {}, {} epochs; differences are relative\n", counted(common.num_ranks, "rank"), options.dtype,
             options.training.num_epochs);
  print_table(all);
  write_pictures(all, common.out_dir);
  const bool is_same = std::all_of(all.begin(), all.end(), [](const ComparedRun& one) { return one.is_same(); });
  return is_same ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void compare_command(cli::App& app) {
  auto& options = app.own(LabOptions());
  auto& common = app.own(cli::CommonOptions());
  auto& list = app.own(std::string("gpipe,1f1b,interleaved,pair-norm,pipedream,pipedream-sync,pipedream-2bw"));
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
    const bool chosen = app.given("--optimizer") || app.given("--lr") || app.given("--momentum");
    return compare_all(list, options, chosen, common);
  });
}

}  // namespace lab::optc
