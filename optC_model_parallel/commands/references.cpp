#include "optC_model_parallel/commands/references.h"

#include <algorithm>
#include <string>

#include "common/comm/lone_work.h"
#include "common/rank/measured_use.h"
#include "optC_model_parallel/commands/training_progress.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

at::Tensor from_doubles(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

/// Sends the record from `owner` to all ranks. Only its values are sent; all shapes follow from the run.
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
  const at::Tensor used =
      share(at::tensor({record.used.flops, record.used.memory.peak_bytes}, at::kLong), {2}, at::kLong);
  record.used = {used[0].item<std::int64_t>(), {used[1].item<std::int64_t>(), 0}, {}};
  if (num_epochs > 0) record.predictions = share(record.predictions, {data.test.size()}, at::kLong);
}

}  // namespace

TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report) {
  const std::unique_ptr<Strategy> strategy = reference_strategy(run, num_ranks);
  const std::string label = run.is_stale() ? run.name + " by formula" : run.training.model + " in one process";
  TrainingProgress progress(label, run.training.num_epochs * data.train.size());
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double loss) {
    progress.step(num_images, loss);
    report();
  };
  events.on_batch = report;
  Checkpoints drains({"", run.checkpoint_every, false, ""}, 0, 1);
  TrainingRecord record;
  record.used =
      measured_use_of_one_process([&] { record = run_training(run.training, data, *strategy, &drains, events); });
  return record;
}

std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm) {
  std::vector<std::string> keys;  // of distinct references
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
  std::vector<TrainingRecord> references(distinct.size());
  comm::work_while_others_wait(comm.collectives(), [&](const comm::ReportProgress& report) {
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      if (owner(i) == comm.rank()) references[i] = train_reference(distinct[i], data, comm.size(), report);
    }
  });
  for (std::size_t i = 0; i < distinct.size(); ++i)
    share_record(references[i], distinct[i], data, owner(i), comm.collectives());
  std::vector<TrainingRecord> of_runs;
  for (const std::size_t reference : reference_of) of_runs.push_back(references[reference]);
  return of_runs;
}

}  // namespace lab::optc
