#include "optC_model_parallel/references.h"

#include <algorithm>
#include <limits>

#include "common/comm/lone_work.h"
#include "common/tensor/mixing.h"
#include "common/tensor/seeded.h"
#include "optC_model_parallel/batches.h"
#include "optC_model_parallel/doubles.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/training_comparison.h"
#include "optC_model_parallel/training_loop.h"
#include "optC_model_parallel/training_progress.h"

namespace lab::optc {
namespace {

at::Tensor from_doubles(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

/// Puts the twin's distances into the reference, on every rank. `twin` is known to `owner`, and the reference to all.
void share_twin(Reference& reference, const TrainingRun& run, const TrainingRecord& twin, int owner,
                Collectives& comm) {
  const std::int64_t num_epochs = run.training.num_epochs;
  const at::Tensor found = at::zeros({num_epochs + 1}, at::kDouble);
  if (comm.rank() == owner && num_epochs > 0) {
    for (std::int64_t epoch = 0; epoch < num_epochs; ++epoch) {
      const auto index = static_cast<std::size_t>(epoch);
      found[epoch] = compare_parameters(twin.parameters[index], reference.record.parameters[index]).relative_norm;
    }
    found[num_epochs] = largest_loss_difference(twin.losses, reference.record.losses,
                                                static_cast<std::int64_t>(twin.losses.size()) / num_epochs);
  }
  reference.twin_distances = doubles_in(comm.broadcast(found, owner));
  reference.twin_loss_difference = reference.twin_distances.back();
  reference.twin_distances.pop_back();
}

/// Sends the record from `owner` to everybody. What the others cannot know is its values; all shapes follow from the
/// run.
void share_record(TrainingRecord& record, const TrainingRun& run, const Dataset& data, int owner, Collectives& comm) {
  const TrainingOptions& training = run.training;
  const bool owns = comm.rank() == owner;
  const auto share = [&](const at::Tensor& mine, std::vector<std::int64_t> shape, at::ScalarType dtype) {
    return comm.broadcast(owns ? mine.contiguous() : at::empty(shape, dtype), owner);
  };
  const std::int64_t num_epochs = training.num_epochs;
  const std::int64_t num_steps = num_epochs * num_batches(data.train.size(), training.batch_size);
  record.losses = doubles_in(share(from_doubles(record.losses), {num_steps}, at::kDouble));
  record.test_losses = doubles_in(share(from_doubles(record.test_losses), {num_epochs}, at::kDouble));
  record.accuracies = doubles_in(share(from_doubles(record.accuracies), {num_epochs}, at::kDouble));
  record.parameters.resize(static_cast<std::size_t>(num_epochs));
  for (TensorMap& parameters : record.parameters) {
    for (const LayerSpec& layer : model_named(training.model).layers) {
      for (const ParameterSpec& spec : layer.parameters)
        parameters[spec.name] = share(parameters[spec.name], spec.shape, training.dtype);
    }
  }
  if (num_epochs > 0) record.predictions = share(record.predictions, {data.test.size()}, at::kLong);
}

bool has_twin(const TrainingRun& run) {
  return run.training.dtype == at::kFloat;
}

/// Every weight becomes one of its two neighbours.
void begin_one_rounding_apart(Strategy& strategy, std::uint64_t seed) {
  TensorMap state = strategy.state();
  for (auto& [name, tensor] : state) {
    const at::Tensor up = seeded_rand(tensor.sizes(), splitmix64(seed)).lt(0.5);
    const at::Tensor far = at::full_like(tensor, std::numeric_limits<float>::max());
    tensor = at::nextafter(tensor, at::where(up, far, -far));
  }
  strategy.load_state(state);
}

TrainingRecord train_alone(const TrainingRun& run, const Dataset& data, bool is_twin, int num_ranks, const ReportProgress& report) {
  const std::unique_ptr<Strategy> strategy = reference_strategy(run, num_ranks);
  if (is_twin) begin_one_rounding_apart(*strategy, run.training.seed);
  const std::string label = run.is_stale() ? run.name + " by formula" : run.training.model + " in one process";
  TrainingProgress progress(label, run.training.num_epochs * data.train.size());
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double loss) {
    progress.step(num_images, loss);
    report();
  };
  events.on_batch = report;
  Checkpoints drains({"", run.checkpoint_every, false, ""}, 0, 1);
  return run_training(run.training, data, *strategy, &drains, events);
}

}  // namespace

std::vector<Reference> train_references(const std::vector<TrainingRun>& runs, const Dataset& data, Communicator& comm) {
  std::vector<std::string> keys;  // of references that differ
  std::vector<std::size_t> reference_of;
  std::vector<TrainingRun> distinct;
  for (const TrainingRun& run : runs) {
    const auto found = std::find(keys.begin(), keys.end(), reference_key(run));
    reference_of.push_back(static_cast<std::size_t>(found - keys.begin()));
    if (found != keys.end()) continue;
    keys.push_back(reference_key(run));
    distinct.push_back(run);
  }
  const auto owner = [&](std::size_t turn) { return static_cast<int>(turn) % comm.size(); };
  std::vector<Reference> references(distinct.size());
  std::vector<TrainingRecord> twins(distinct.size());
  work_while_others_wait(comm.collectives(), [&](const ReportProgress& report) {
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      const TrainingRun& run = distinct[i];
      if (owner(2 * i) == comm.rank()) references[i].record = train_alone(run, data, false, comm.size(), report);
      if (has_twin(run) && owner(2 * i + 1) == comm.rank()) twins[i] = train_alone(run, data, true, comm.size(), report);
    }
  });
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    share_record(references[i].record, distinct[i], data, owner(2 * i), comm.collectives());
    if (has_twin(distinct[i])) share_twin(references[i], distinct[i], twins[i], owner(2 * i + 1), comm.collectives());
  }
  std::vector<Reference> of_runs;
  for (const std::size_t reference : reference_of) of_runs.push_back(references[reference]);
  return of_runs;
}

}  // namespace lab::optc
