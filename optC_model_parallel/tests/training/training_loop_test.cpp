#include "optC_model_parallel/model/training.h"

#include <cmath>
#include <limits>
#include <utility>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// What the loop calls on a strategy, and what it records.
namespace lab::optc {
namespace {

using lab::testing::get_message;
using lab::testing::TemporaryFolder;

/// Learns nothing, and records its calls.
class Scripted : public Strategy {
 public:
  void train(const Images&, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    asked.emplace_back(steps.begin, steps.end());
    first_images.push_back(batches.indices(0)[0].item<std::int64_t>());
    for (std::int64_t step = steps.begin; step < steps.end(); ++step) {
      ++num_steps;
      if (knows) on_loss(num_steps == bad_step ? bad_loss : static_cast<double>(num_steps));
    }
  }
  at::Tensor logits(const Images& images, const OnBatch& on_batch) override {
    if (on_batch) on_batch();
    // Image i is predicted as class i.
    return knows ? at::eye(10, at::kDouble).narrow(0, 0, images.size()) * 50 : at::Tensor();
  }
  TensorMap parameters() const override { return {{"w", at::full({1}, num_steps)}}; }
  TensorMap state() const override { return parameters(); }
  void load_state(const TensorMap& state) override { num_steps = state.at("w").item<std::int64_t>(); }

  std::vector<std::pair<std::int64_t, std::int64_t>> asked;
  std::vector<std::int64_t> first_images;
  std::int64_t num_steps = 0;
  bool knows = true;
  std::int64_t bad_step = -1;
  double bad_loss = std::numeric_limits<double>::quiet_NaN();
};

/// 29 images in batches of 10: 10, 10, 9. The labels of the 4 test images are 0 1 2 9.
Dataset small_data() {
  const at::Tensor labels = at::tensor({0, 1, 2, 9}, at::kLong);
  return {{at::zeros({29, 3, 32, 32}, at::kByte), at::zeros({29}, at::kLong)},
          {at::zeros({4, 3, 32, 32}, at::kByte), labels}};
}

TrainingOptions small_options(std::int64_t num_epochs = 2) {
  TrainingOptions options;
  options.batch_size = 10;
  options.num_epochs = num_epochs;
  return options;
}

using Asked = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST_CASE("an epoch is requested at once, and each has its own order") {
  Scripted strategy;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> epochs;
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double) { sizes.push_back(num_images); };
  events.on_epoch = [&](std::int64_t epoch, const TrainingRecord& so_far) {
    epochs.push_back(epoch);
    CHECK(so_far.accuracies.size() == static_cast<std::size_t>(epoch));
  };
  const TrainingRecord record = run_training(small_options(), small_data(), strategy, nullptr, events);
  CHECK(strategy.asked == Asked{{0, 3}, {0, 3}});
  CHECK(strategy.first_images[0] != strategy.first_images[1]);
  CHECK(sizes == std::vector<std::int64_t>{10, 10, 9, 10, 10, 9});
  CHECK(epochs == std::vector<std::int64_t>{1, 2});
  CHECK(record.losses == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(record.accuracies == std::vector<double>{0.75, 0.75});
  CHECK(record.test_losses[0] == doctest::Approx(50.0 / 4));
  CHECK(record.predictions.equal(at::arange(4)));
  REQUIRE(record.parameters.size() == 2);
  CHECK(record.parameters[0].at("w").item<std::int64_t>() == 3);
}

TEST_CASE("a rank that does not know losses and logits records only its parameters") {
  Scripted strategy;
  strategy.knows = false;
  const TrainingRecord record = run_training(small_options(), small_data(), strategy, nullptr, {});
  CHECK(record.losses.empty());
  CHECK(record.accuracies.empty());
  CHECK(record.test_losses.empty());
  CHECK_FALSE(record.predictions.defined());
  CHECK(record.parameters.size() == 2);
}

TEST_CASE("no epoch, no step; no image is refused; without images to test on nothing is tested") {
  Scripted strategy;
  CHECK(run_training(small_options(0), small_data(), strategy, nullptr, {}).parameters.empty());
  CHECK(strategy.asked.empty());
  Dataset data = small_data();
  data.test = {data.test.pixels.narrow(0, 0, 0), data.test.labels.narrow(0, 0, 0)};
  const TrainingRecord record = run_training(small_options(1), data, strategy, nullptr, {});
  CHECK(record.accuracies.empty());
  CHECK(record.parameters.size() == 1);
  data.train = data.test;
  CHECK(get_message([&] { run_training(small_options(), data, strategy, nullptr, {}); }) ==
        "training: expected at least 1 image to learn from, got 0");
  TrainingOptions options = small_options();
  options.batch_size = 0;
  CHECK(get_message([&] { run_training(options, small_data(), strategy, nullptr, {}); }) ==
        "training: expected batches of at least 1 image, got 0");
}

TEST_CASE("a loss that is not finite stops the training at once, and says where") {
  Scripted strategy;
  strategy.bad_step = 5;
  const auto refusal = [&] {
    return get_message([&] { run_training(small_options(), small_data(), strategy, nullptr, {}); });
  };
  CHECK(refusal() == "the loss is nan at step 5 (epoch 2, batch 2 of 3); hint: a lower --lr");
  CHECK(strategy.num_steps == 5);
  strategy = Scripted();
  strategy.bad_step = 1;
  strategy.bad_loss = std::numeric_limits<double>::infinity();
  CHECK(refusal() == "the loss is inf at step 1 (epoch 1, batch 1 of 3); hint: a lower --lr");
}

CheckpointOptions checkpoints_in(const TemporaryFolder& folder, std::int64_t every) {
  CheckpointOptions options;
  options.folder = folder.file("c");
  options.every = every;
  options.resume = true;
  return options;
}

TEST_CASE("checkpoints cut an epoch in pieces, and are also left at its end") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(checkpoints_in(folder, 2), 0, 1);
  Scripted strategy;
  run_training(small_options(), small_data(), strategy, &checkpoints, {});
  CHECK(strategy.asked == Asked{{0, 2}, {2, 3}, {0, 1}, {1, 3}});
  CHECK(checkpoints.newest()->step == 6);
  CHECK(checkpoints.newest()->record.parameters.size() == 2);
}

TEST_CASE("a training that is done is not done again; one that is longer than asked for is refused") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(checkpoints_in(folder, 2), 0, 1);
  Scripted first;
  run_training(small_options(), small_data(), first, &checkpoints, {});
  Scripted again;
  const TrainingRecord record = run_training(small_options(), small_data(), again, &checkpoints, {});
  CHECK(again.asked.empty());
  CHECK(again.num_steps == 6);
  CHECK(record.losses == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(record.predictions.equal(at::arange(4)));
  Scripted longer;
  CHECK(run_training(small_options(3), small_data(), longer, &checkpoints, {}).losses.size() == 9);
  CHECK(longer.asked == Asked{{0, 2}, {2, 3}});
  CHECK(get_message([&] { run_training(small_options(), small_data(), again, &checkpoints, {}); }) ==
        "expected a checkpoint of at most 6 steps (2 epochs), got one of 9; hint: more --epochs");
}

}  // namespace
}  // namespace lab::optc
