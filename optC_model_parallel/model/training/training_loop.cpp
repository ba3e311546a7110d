#include "optC_model_parallel/model/training/training_loop.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/api/errors.h"
#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {
namespace {

/// A step of the whole training, and its position in the epoch.
struct Place {
  std::int64_t step;  ///< steps done so far
  std::int64_t steps_per_epoch;
  std::int64_t epoch() const { return step / steps_per_epoch; }
  std::int64_t batch() const { return step % steps_per_epoch; }
};

void require_finite(double loss, const Place& place) {
  if (std::isfinite(loss)) return;
  throw UsageError(fmt::format("the loss is {} at step {} (epoch {}, batch {} of {}); hint: a lower --lr", loss,
                               place.step + 1, place.epoch() + 1, place.batch() + 1, place.steps_per_epoch));
}

/// The steps from here until a checkpoint is due or the epoch ends.
Slice next_steps(const Place& place, const Checkpoints* checkpoints) {
  std::int64_t size = 1;
  while (place.batch() + size < place.steps_per_epoch && !(checkpoints && checkpoints->due(place.step + size))) ++size;
  return {place.batch(), size};
}

void evaluate(const Images& images, Strategy& strategy, const OnBatch& on_batch, TrainingRecord& record) {
  record.parameters.push_back(strategy.parameters());
  const at::Tensor logits = strategy.logits(images, on_batch);
  if (!logits.defined() || images.size() == 0) return;
  record.predictions = logits.argmax(1);
  record.test_losses.push_back(at::cross_entropy_loss(logits, images.labels).item<double>());
  record.accuracies.push_back(record.predictions.eq(images.labels).to(at::kDouble).mean().item<double>());
}

}  // namespace

TrainingRecord run_training(const TrainingOptions& options, const Dataset& data, Strategy& strategy,
                            Checkpoints* checkpoints, const TrainingEvents& events) {
  if (options.batch_size < 1)
    throw UsageError(fmt::format("training: expected batches of at least 1 image, got {}", options.batch_size));
  if (data.train.size() == 0) throw UsageError("training: expected at least 1 image to learn from, got 0");
  Place place{0, num_batches(data.train.size(), options.batch_size)};
  const std::int64_t num_steps = options.num_epochs * place.steps_per_epoch;
  TrainingRecord record;
  std::optional<Checkpoint> checkpoint = checkpoints ? checkpoints->newest() : std::nullopt;
  if (checkpoint && checkpoint->step > num_steps)
    throw UsageError(
        fmt::format("expected a checkpoint of at most {} steps ({} epochs), got one of {}; hint: more "
                    "--epochs",
                    num_steps, options.num_epochs, checkpoint->step));
  if (checkpoints && events.on_note) {
    for (const std::string& note : checkpoints->notes()) events.on_note(note);
  }
  if (checkpoint) {
    strategy.load_state(checkpoint->state);
    record = std::move(checkpoint->record);
    place.step = checkpoint->step;
  }
  while (place.step < num_steps) {
    const std::int64_t epoch = place.epoch();
    const EpochBatches batches(data.train.size(), options.batch_size, options.seed, epoch);
    const Slice steps = next_steps(place, checkpoints);
    Place told = place;
    strategy.train(data.train, batches, steps, [&](double loss) {
      require_finite(loss, told);
      record.losses.push_back(loss);
      const std::int64_t num_images = batches.indices(told.batch()).size(0);
      ++told.step;
      if (events.on_step) events.on_step(num_images, loss);
    });
    place.step += steps.size;
    const bool epoch_ends = place.batch() == 0;
    if (epoch_ends) evaluate(data.test, strategy, events.on_batch, record);
    if (checkpoints && checkpoints->writes() && (epoch_ends || checkpoints->due(place.step)))
      checkpoints->write({place.step, strategy.state(), record});
    if (epoch_ends && events.on_epoch) events.on_epoch(epoch + 1, record);
  }
  return record;
}

}  // namespace lab::optc
