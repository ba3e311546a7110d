#include "optC_model_parallel/cases/reference/single.h"

#include <cmath>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/training.h"

// The one-process reference, compared with updates by hand.
namespace lab::optc {
namespace {

using lab::testing::contains;
using lab::testing::get_message;

TrainingOptions options_for(const std::string& model, double learning_rate = 0.01) {
  TrainingOptions options;
  options.model = model;
  options.optimizer.learning_rate = learning_rate;
  return options;
}

/// All losses of an epoch.
std::vector<double> train_epoch(Strategy& strategy, const Images& images, std::int64_t batch_size) {
  const EpochBatches batches(images.size(), batch_size, 42, 0);
  std::vector<double> losses;
  strategy.train(images, batches, {0, batches.size()}, [&](double loss) { losses.push_back(loss); });
  return losses;
}

at::Tensor loss_by_hand(const ModelSpec& model, const Parameters& parameters, const Images& images,
                        const at::Tensor& indices) {
  const at::Tensor x = (images.pixels.index_select(0, indices).to(at::kDouble) / 255 - 0.5) / 0.5;
  const at::Tensor logits = run_layers(model, parameters, x, Mode::kTraining);
  const at::Tensor of_labels = logits.log_softmax(1).gather(1, images.labels.index_select(0, indices).unsqueeze(1));
  return -of_labels.mean();
}

TEST_CASE("a step is an update by the gradient of the batch's mean cross-entropy") {
  const Images images = generated_images(16, 0, 1).train;
  const ModelSpec model = model_named("tutorial");
  const Parameters expected = first_parameters(model, 42, at::kDouble);
  const at::Tensor loss = loss_by_hand(model, expected, images, at::arange(16));
  loss.backward();
  const auto strategy = single_process(options_for("tutorial", 0.1));
  const std::vector<double> losses = train_epoch(*strategy, images, 16);
  REQUIRE(losses.size() == 1);
  CHECK(losses[0] == doctest::Approx(loss.item<double>()).epsilon(1e-12));
  const TensorMap actual = strategy->parameters();
  const Tensors tensors = learning(model, expected);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor updated = tensors[i].detach() - 0.1 * tensors[i].grad();
    CHECK(compare(actual.at(learning_names(model)[i]), updated, {1e-12, 1e-14}).close);
    CHECK(tensors[i].grad().norm().item<double>() > 1e-4);
  }
}

TEST_CASE("a last batch of 29 images is a mean over 29") {
  const Images images = generated_images(64 + 29, 0, 1).train;
  TrainingOptions options = options_for("tutorial", 0);  // the weights stay
  const auto strategy = single_process(options);
  const std::vector<double> losses = train_epoch(*strategy, images, 64);
  REQUIRE(losses.size() == 2);
  const ModelSpec model = model_named("tutorial");
  const Parameters first = first_parameters(model, 42, at::kDouble);
  const EpochBatches batches(93, 64, 42, 0);
  for (std::int64_t batch = 0; batch < 2; ++batch) {
    const double expected = loss_by_hand(model, first, images, batches.indices(batch)).item<double>();
    CHECK(losses[static_cast<std::size_t>(batch)] == doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("every model learns, and the same options give the same bits") {
  const Dataset data = generated_images(160, 40, 1);
  for (const std::string name : {"tutorial", "deep", "pair-norm", "vit", "resnet"}) {
    TrainingOptions options = options_for(name);
    options.dtype = at::kFloat;
    options.batch_size = 32;
    options.num_epochs = 4;
    options.optimizer = {"adam", 0.002};
    const TrainingRecord record = run_training(options, data, *single_process(options), nullptr, {});
    CAPTURE(name);
    REQUIRE(record.losses.size() == 20);
    CHECK(record.losses.back() < 0.9 * record.losses.front());
    const TrainingRecord again = run_training(options, data, *single_process(options), nullptr, {});
    CHECK(again.losses == record.losses);
    CHECK(again.accuracies == record.accuracies);
    for (const auto& [tensor_name, tensor] : record.parameters.back())
      CHECK(again.parameters.back().at(tensor_name).equal(tensor));
  }
}

TEST_CASE("a learning rate that is far too high stops the training with the step named") {
  const Dataset data = generated_images(64, 10, 1);
  TrainingOptions options = options_for("tutorial", 1e200);
  options.batch_size = 16;
  const std::string message = get_message([&] { run_training(options, data, *single_process(options), nullptr, {}); });
  CHECK(contains(message, "the loss is "));
  CHECK(contains(message, " at step 2 (epoch 1, batch 2 of 4); hint: a lower --lr"));
}

TEST_CASE("logits are the same in batches of a few hundred, change nothing, and are empty without images") {
  const Images images = generated_images(16, 0, 1).train;
  const Images many = generated_images(0, 300, 1).test;
  const auto strategy = single_process(options_for("resnet"));
  train_epoch(*strategy, images, 16);
  const TensorMap before = strategy->parameters();
  int num_batches = 0;
  const at::Tensor logits = strategy->logits(many, [&] { ++num_batches; });
  CHECK(num_batches == 2);  // called for each, as other ranks may be waiting
  CHECK((logits.sizes() == at::IntArrayRef{300, 10}));
  const Images last = {many.pixels.narrow(0, 290, 10), many.labels.narrow(0, 290, 10)};
  CHECK(compare(strategy->logits(last), logits.narrow(0, 290, 10), {1e-12, 1e-12}).close);
  CHECK_FALSE(logits.requires_grad());
  for (const auto& [name, tensor] : strategy->parameters()) CHECK(tensor.equal(before.at(name)));
  CHECK((strategy->logits(generated_images(0, 0, 1).test).sizes() == at::IntArrayRef{0, 10}));
}

TEST_CASE(
    "a state has the weights and the running statistics, and copies them; loaded, it trains on to the same bits") {
  const Images images = generated_images(16, 0, 1).train;
  const auto strategy = single_process(options_for("resnet"));
  train_epoch(*strategy, images, 16);
  const TensorMap state = strategy->state();
  CHECK(state.count("norm.running_mean") == 1);
  CHECK(state.size() == strategy->parameters().size() + 1);
  const at::Tensor kept = state.at("head.weight").clone();
  train_epoch(*strategy, images, 16);
  const at::Tensor after = strategy->parameters().at("head.weight");
  CHECK(state.at("head.weight").equal(kept));
  CHECK_FALSE(after.equal(kept));
  strategy->load_state(state);
  CHECK(strategy->parameters().at("head.weight").equal(kept));
  train_epoch(*strategy, images, 16);
  CHECK(strategy->parameters().at("head.weight").equal(after));
}

TEST_CASE("another model's state is refused") {
  const auto strategy = single_process(options_for("tutorial"));
  TensorMap state = strategy->state();
  state.erase("fc3.weight");
  CHECK(get_message([&] { strategy->load_state(state); }) ==
        "model 'tutorial': expected 'fc3.weight' to be float64 [10, 84], got nothing of that name");
  state.erase("optimizer");
  CHECK(contains(get_message([&] { strategy->load_state(state); }), "got one without 'optimizer'"));
}

TEST_CASE("an unknown model or optimizer is refused before anything is trained") {
  CHECK(contains(get_message([] { single_process(options_for("alexnet")); }), "model 'alexnet': expected one of"));
  TrainingOptions options;
  options.optimizer.kind = "lion";
  CHECK(get_message([&] { single_process(options); }) == "optimizer 'lion': expected sgd or adam");
}

}  // namespace
}  // namespace lab::optc
