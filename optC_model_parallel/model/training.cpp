#include "optC_model_parallel/model/training.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {
namespace {

class WholeBatches : public LearnerStrategy {
 public:
  using LearnerStrategy::LearnerStrategy;

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    for (std::int64_t batch = steps.begin; batch < steps.end(); ++batch) {
      const at::Tensor loss = mean_loss(learner_.parameters(), images, batches.indices(batch));
      on_loss(loss.item<double>());
      loss.backward();
      learner_.step();
    }
  }
};

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

std::unique_ptr<Strategy> whole_batches(const TrainingOptions& options, Learner learner) {
  return std::make_unique<WholeBatches>(options, std::move(learner));
}

/// 256 images at a time, without gradients. Without images, an empty batch goes through once.
at::Tensor LearnerStrategy::logits(const Images& images, const OnBatch& on_batch) {
  constexpr std::int64_t kBatch = 256;
  const c10::NoGradGuard no_gradient;
  std::vector<at::Tensor> parts;
  std::int64_t done = 0;
  do {
    const std::int64_t end = std::min(done + kBatch, images.size());
    parts.push_back(evaluate(normalized(images, at::arange(done, end, at::kLong), tensors_)));
    done = end;
    if (on_batch) on_batch();
  } while (done < images.size());
  return parts.front().defined() ? at::cat(parts).cpu() : at::Tensor();
}

at::Tensor LearnerStrategy::evaluate(const at::Tensor& x) {
  return run_layers(learner_.model(), learner_.parameters(), x, Mode::kEvaluation);
}

at::Tensor LearnerStrategy::mean_loss(const Parameters& parameters, const Images& images,
                                      const at::Tensor& indices) const {
  const at::Tensor x = normalized(images, indices, tensors_);
  return at::cross_entropy_loss(run_layers(learner_.model(), parameters, x, Mode::kTraining),
                                take_labels(images, indices).to(x.device()));
}

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
        fmt::format("expected a checkpoint of at most {} steps ({} epochs), got one of {}; hint: more --epochs",
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
