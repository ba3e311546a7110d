#include "optC_model_parallel/compare_runs.h"

#include <algorithm>
#include <cmath>

#include "common/report/errors.h"
#include "optC_model_parallel/doubles.h"
#include "optC_model_parallel/float32_checks.h"
#include "optC_model_parallel/references.h"
#include "optC_model_parallel/training_comparison.h"
#include "optC_model_parallel/training_loop.h"
#include "optC_model_parallel/training_progress.h"

namespace lab::optc {
namespace {

void put_curves(const std::string& prefix, TrainingRecord record, TensorMap& tensors) {
  record.parameters.clear();
  for (const auto& [name, tensor] : tensors_of(record)) tensors[prefix + name] = tensor;
}

TrainingRecord take_curves(const std::string& prefix, const TensorMap& tensors) {
  TensorMap own;
  for (const auto& [name, tensor] : tensors) {
    if (name.compare(0, prefix.size(), prefix) == 0) own[name.substr(prefix.size())] = tensor;
  }
  return record_of(own);
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
    Float32Checks checks(run, data, *strategy, comm, events);
    const TrainingRecord record = run_training(run.training, data, *strategy, nullptr, events);
    checks.finish(record);
    results[run.name + ".squares"] = squares(run, record, references[i], comm);
    results[run.name + ".float32"] =
        at::tensor({checks.all_right() ? 1.0 : 0.0, together(checks.steps(), {}).gradients.relative_norm}, at::kDouble);
    if (speaks) put_curves(run.name + ".parallel.", record, results);
    if (comm.rank() != 0) continue;
    put_curves(run.name + ".reference.", references[i], results);
  }
  return results;
}

ComparedRun put_together(const TrainingRun& run, const WorldOutcome& outcome) {
  ComparedRun compared;
  compared.run = run;
  at::Tensor sums = at::zeros({run.training.num_epochs, 2}, at::kDouble);
  for (const RankOutcome& rank : outcome.ranks) {
    sums = sums + rank.tensors.at(run.name + ".squares");
    const std::vector<double> float32 = doubles_in(rank.tensors.at(run.name + ".float32"));
    compared.steps_are_right = compared.steps_are_right && float32[0] == 1;
    compared.gradient_distance = std::max(compared.gradient_distance, float32[1]);
    if (rank.tensors.count(run.name + ".parallel.losses") != 0)
      compared.parallel = take_curves(run.name + ".parallel.", rank.tensors);
  }
  const TensorMap& first = outcome.ranks.front().tensors;
  compared.reference = take_curves(run.name + ".reference.", first);
  for (std::int64_t epoch = 0; epoch < run.training.num_epochs; ++epoch)
    compared.distances.push_back(std::sqrt((sums[epoch][0] / sums[epoch][1]).item<double>()));
  return compared;
}

}  // namespace

std::vector<ComparedRun> compare_runs(const std::vector<TrainingRun>& runs, const LabOptions& options, int num_ranks,
                                      double timeout_seconds) {
  WorldSpec spec;
  spec.kind = WorldKind::kProcesses;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = timeout_seconds;
  const WorldOutcome outcome = run_ranks(spec, [&](Communicator& comm) { return train_all(runs, options, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  std::vector<ComparedRun> compared;
  for (const TrainingRun& run : runs) compared.push_back(put_together(run, outcome));
  return compared;
}

}  // namespace lab::optc
