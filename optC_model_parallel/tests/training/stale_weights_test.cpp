#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"

// The one-process emulation of stale weights, compared with explicit tables of versions.
namespace lab::optc {
namespace {

using lab::testing::get_message;
using Versions = std::vector<std::vector<std::size_t>>;  // [stage][step]

constexpr double kRate = 0.1;
constexpr double kMomentum = 0.5;
constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kSteps = 6;

/// The tutorial's 5 layers on 4 stages.
const std::vector<Slice> kStages = {{0, 1}, {1, 1}, {2, 2}, {4, 1}};

TrainingOptions some_options() {
  TrainingOptions options;
  options.batch_size = kBatch;
  options.optimizer = {"sgd", kRate, kMomentum};
  return options;
}

/// Trains with the versions of the table, starting from its top again after `restart` steps.
TensorMap by_table(const Images& images, const Versions& versions, std::int64_t restart) {
  const ModelSpec model = model_named("tutorial");
  std::vector<Parameters> history = {first_parameters(model, some_options().seed, at::kDouble)};
  Tensors velocity;
  for (const at::Tensor& tensor : learning(model, history[0])) velocity.push_back(at::zeros_like(tensor).detach());
  const EpochBatches batches(images.size(), kBatch, 42, 0);
  for (std::int64_t batch = 0; batch < kSteps; ++batch) {
    if (batch == restart) history = {history.back()};
    const std::int64_t step = batch < restart ? batch : batch - restart;
    Parameters used;
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      const Parameters& version = history.at(versions[stage][static_cast<std::size_t>(step)]);
      for (std::int64_t layer = kStages[stage].begin; layer < kStages[stage].end(); ++layer)
        used.layers.push_back(version.layers[static_cast<std::size_t>(layer)]);
    }
    used = copy_of(used);
    const at::Tensor x = normalized(images, batches.indices(batch), at::kDouble);
    at::cross_entropy_loss(run_layers(model, used, x, Mode::kTraining), take_labels(images, batches.indices(batch)))
        .backward();
    const c10::NoGradGuard no_gradient;
    Parameters next = copy_of(history.back());
    const Tensors gradients = learning(model, used), weights = learning(model, next);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = kMomentum * velocity[i] + gradients[i].grad();
      weights[i].sub_(kRate * velocity[i]);
    }
    history.push_back(next);
  }
  return named(model, history.back());
}

TensorMap emulated(const Images& images, const std::string& schedule, std::int64_t restart) {
  const auto strategy = stale_weights(some_options(), {schedule}, kStages, whole_learner(some_options()));
  const EpochBatches batches(images.size(), kBatch, 42, 0);
  std::size_t num_losses = 0;
  const auto count = [&](double) { ++num_losses; };
  strategy->train(images, batches, {0, restart}, count);
  strategy->train(images, batches, {restart, kSteps - restart}, count);
  CHECK(num_losses == kSteps);
  return strategy->parameters();
}

/// ||left - right|| / ||right|| over all tensors.
double distance(const TensorMap& left, const TensorMap& right) {
  double difference = 0, size = 0;
  for (const auto& [name, tensor] : right) {
    difference += (left.at(name) - tensor).square().sum().item<double>();
    size += tensor.square().sum().item<double>();
  }
  return std::sqrt(difference / size);
}

TEST_CASE("each schedule has the versions of its table, from the beginning of each call of train()") {
  const Images images = generated_images(kSteps * kBatch, 0, 1).train;
  const std::vector<std::pair<std::string, Versions>> tables = {
      {"pipedream", {{0, 0, 0, 0, 1, 2}, {0, 0, 0, 1, 2, 3}, {0, 0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}}},
      {"pipedream-sync", {{0, 0, 0, 0, 1, 2}, {0, 0, 0, 0, 1, 2}, {0, 0, 0, 0, 1, 2}, {0, 0, 0, 0, 1, 2}}},
      {"pipedream-2bw", {{0, 0, 1, 2, 3, 4}, {0, 0, 1, 2, 3, 4}, {0, 0, 1, 2, 3, 4}, {0, 0, 1, 2, 3, 4}}}};
  for (const auto& [schedule, versions] : tables) {
    CAPTURE(schedule);
    for (const std::int64_t restart : {kSteps, std::int64_t{4}}) {
      const TensorMap actual = emulated(images, schedule, restart);
      CHECK(distance(actual, by_table(images, versions, restart)) < 1e-14);
      // Another schedule, or a pipeline drained at another time, is detected.
      for (const auto& [other, other_versions] : tables) {
        if (other != schedule) CHECK(distance(actual, by_table(images, other_versions, restart)) > 1e-7);
      }
      CHECK(distance(actual, by_table(images, versions, restart == kSteps ? 4 : kSteps)) > 1e-7);
    }
  }
}

TEST_CASE("with one stage PipeDream is the single process, bit for bit, in both dtypes") {
  const Images images = generated_images(kSteps * kBatch, 0, 1).train;
  const EpochBatches batches(images.size(), kBatch, 42, 0);
  TrainingOptions options = some_options();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    options.dtype = dtype;
    for (const char* schedule : {"pipedream", "pipedream-sync"}) {
      for (const char* kind : {"sgd", "adam"}) {
        options.optimizer.kind = kind;
        const auto single = single_process(options);
        const auto stale = stale_weights(options, {schedule}, {{0, 5}}, whole_learner(options));
        std::vector<double> of_single, of_stale;
        single->train(images, batches, {0, kSteps}, [&](double loss) { of_single.push_back(loss); });
        stale->train(images, batches, {0, kSteps}, [&](double loss) { of_stale.push_back(loss); });
        CHECK(of_single == of_stale);
        for (const auto& [name, tensor] : single->parameters()) CHECK(stale->parameters().at(name).equal(tensor));
      }
    }
  }
}

TEST_CASE("schedules that have no stale weights, and stages that are not the model, are refused") {
  const auto refusal = [](const std::string& schedule, const std::vector<Slice>& stages) {
    return get_message([&] { stale_weights(some_options(), {schedule}, stages, whole_learner(some_options())); });
  };
  CHECK(refusal("1f1b", kStages) == "stale weights: expected pipedream, pipedream-sync, or pipedream-2bw, got '1f1b'");
  CHECK(refusal("pipedream", {{0, 2}, {3, 2}}) == "stale weights: expected stage 1 to begin at layer 2, got 3");
  CHECK(refusal("pipedream", {{0, 2}, {2, 2}}) == "stale weights: expected stages of 5 layers, got 4");
}

}  // namespace
}  // namespace lab::optc
