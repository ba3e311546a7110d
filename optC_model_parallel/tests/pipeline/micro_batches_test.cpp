#include "optC_model_parallel/micro_batches.h"

#include <cmath>

#include "common/api/peak_memory.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/seeded.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/pipedream.h"
#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {
namespace {

std::vector<std::int64_t> cut_sizes(std::int64_t batch_size, std::int64_t count) {
  std::vector<std::int64_t> sizes;
  for (const Slice& slice : micro_batches(batch_size, count)) sizes.push_back(slice.size);
  return sizes;
}

TEST_CASE("micro_batches: as even as can be, and always as many as asked for") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(cut_sizes(29, 4) == Sizes{8, 7, 7, 7});
  CHECK(cut_sizes(2, 4) == Sizes{1, 1, 0, 0});
  CHECK(cut_sizes(64, 1) == Sizes{64});
  CHECK(testing::get_message([] { micro_batches(8, 0); }) == "micro_batches: expected at least 1 micro-batch, got 0");
}

TEST_CASE("micro_batch_loss: an image counts by the batch, not by its micro-batch") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor loss = micro_batch_loss(at::zeros({1, 10}, dtype), at::zeros({1}, at::kLong), 4);
    CHECK((loss.scalar_type() == dtype));
    CHECK(loss.dim() == 0);
    CHECK(loss.item<double>() == doctest::Approx(std::log(10.0) / 4));
    CHECK(micro_batch_loss(at::zeros({0, 10}, dtype), at::zeros({0}, at::kLong), 4).item<double>() == 0);
  }
}

/// Loss and gradients of a model on 2 images, in the given number of micro-batches.
std::vector<at::Tensor> in_pieces(const ModelSpec& model, at::ScalarType dtype, std::int64_t count) {
  const Images images = random_images(2, 5);
  const Parameters weights = first_parameters(model, 1, dtype);
  at::Tensor sum = at::zeros({}, dtype);
  for (const Slice& slice : micro_batches(2, count)) {
    const at::Tensor indices = at::arange(slice.begin, slice.end(), at::kLong);
    const at::Tensor x = normalized(images, indices, dtype).requires_grad_();
    const at::Tensor loss =
        micro_batch_loss(run_layers(model, weights, x, Mode::kTraining), take_labels(images, indices), 2);
    loss.backward();
    CHECK(x.grad().sizes() == x.sizes());
    sum = sum + loss.detach();
  }
  std::vector<at::Tensor> results = {sum};
  for (const at::Tensor& weight : learning(model, weights)) results.push_back(weight.grad());
  return results;
}

TEST_CASE("an empty micro-batch goes through every pipeline model, forward and backward, and changes nothing") {
  for (const std::string& name : pipeline_model_names()) {
    CAPTURE(name);
    const ModelSpec model = model_named(name);
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      const std::vector<at::Tensor> two = in_pieces(model, dtype, 2), five = in_pieces(model, dtype, 5);
      REQUIRE(two.size() == five.size());
      for (std::size_t i = 0; i < two.size(); ++i) CHECK(two[i].equal(five[i]));
    }
  }
}

const StageFunction kTwice = [](const at::Tensor& x) { return x * 2; };

TEST_CASE("LiveMicroBatches: a micro-batch goes forward once, and backward once after it") {
  LiveMicroBatches live(false);
  live.forward(3, at::ones({1}), kTwice);
  CHECK(testing::get_message([&] { live.forward(3, at::ones({1}), kTwice); }) ==
        "LiveMicroBatches::forward: micro-batch 3 is live already; hint: backward() must come first");
  CHECK(live.size() == 1);
  CHECK(live.backward(3, at::ones({1})).item<float>() == 2);
  CHECK(live.size() == 0);
  CHECK(testing::get_message([&] { live.backward(3, at::ones({1})); }) ==
        "LiveMicroBatches::backward: micro-batch 3 is not live; hint: once for each forward()");
  live.forward(3, at::ones({1}), kTwice);  // and again in the next batch
  CHECK(live.size() == 1);
}

/// A stage wide enough that its activations outweigh its input and output.
struct WideStage {
  explicit WideStage(at::ScalarType dtype)
      : x(seeded_randn({7, 4}, 1, dtype)),
        in(seeded_randn({50, 4}, 2, dtype).requires_grad_()),
        out(seeded_randn({3, 50}, 3, dtype).requires_grad_()) {}

  StageFunction function() const {
    return [w1 = in, w2 = out](const at::Tensor& input) { return at::linear(at::linear(input, w1).relu(), w2); };
  }

  at::Tensor x, in, out;
};

TEST_CASE("LiveMicroBatches: recomputation changes no bit") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    std::vector<std::vector<at::Tensor>> results;
    for (const bool recompute : {false, true}) {
      const WideStage stage(dtype);
      LiveMicroBatches live(recompute);
      const at::Tensor output = live.forward(0, stage.x, stage.function());
      CHECK_FALSE(output.requires_grad());
      const at::Tensor input_grad = live.backward(0, at::ones_like(output));
      results.push_back({output, input_grad, stage.in.grad(), stage.out.grad()});
    }
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      CHECK(results[0][i].norm().item<double>() > 0);
      CHECK(results[0][i].equal(results[1][i]));
    }
  }
}

TEST_CASE("LiveMicroBatches: with recomputation, only the input is kept for the backward pass") {
  install_memory_meter();
  for (const bool recompute : {false, true}) {
    const WideStage stage(at::kFloat);
    LiveMicroBatches live(recompute);
    const PeakMemory memory(at::kCPU);
    live.forward(0, stage.x, stage.function());
    CAPTURE(memory.held_bytes());
    if (recompute) CHECK(memory.held_bytes() == 0);
    if (!recompute) CHECK(memory.held_bytes() >= 7 * 50 * 4);
    live.backward(0, at::ones({7, 3}));
    stage.in.mutable_grad().reset();
    stage.out.mutable_grad().reset();
    stage.x.mutable_grad().reset();
    CHECK(memory.held_bytes() == 0);
  }
}

Parameters number(std::int64_t value) {
  return {{{at::full({1}, value, at::kLong)}}};
}

std::int64_t number_in(const Parameters& parameters) {
  return parameters.layers[0][0].item<std::int64_t>();
}

TEST_CASE("WeightVersions: a micro-batch gets the weights of its forward pass again, whatever was added meanwhile") {
  WeightVersions versions(number(0));
  CHECK(number_in(versions.start(0, 0)) == 0);
  CHECK(number_in(versions.start(1, 0)) == 0);
  versions.finish(0);
  versions.add(number(1));
  CHECK(versions.newest() == 1);
  CHECK(number_in(versions.start(2, 1)) == 1);
  CHECK(number_in(versions.of(1)) == 0);
  CHECK(versions.of(1).layers[0][0].is_same(versions.of(1).layers[0][0]));
  CHECK(versions.num_kept() == 2);
  versions.finish(1);
  CHECK(versions.num_kept() == 1);  // version 0 cannot be requested again
  CHECK(number_in(versions.of(2)) == 1);
}

TEST_CASE("WeightVersions: what may still be asked for stays, and so does the newest") {
  WeightVersions versions(number(0));
  versions.start(0, 0);
  versions.finish(0);
  versions.add(number(1));
  versions.add(number(2));
  CHECK(versions.num_kept() == 3);
  CHECK(number_in(versions.start(1, 2)) == 2);
  CHECK(versions.num_kept() == 1);
  versions.finish(1);
  CHECK(versions.num_kept() == 1);
}

TEST_CASE("WeightVersions: what is not there is refused") {
  WeightVersions versions(number(0));
  CHECK(testing::get_message([&] { versions.start(5, 1); }) ==
        "WeightVersions::start: micro-batch 5 asks for version 1, which is not there; kept are versions 0 to 0");
  CHECK(testing::get_message([&] { versions.of(5); }) ==
        "WeightVersions::of: micro-batch 5 is not under way; hint: start() first");
  versions.start(5, 0);
  versions.finish(5);
  CHECK(testing::get_message([&] { versions.of(5); }) ==
        "WeightVersions::of: micro-batch 5 is not under way; hint: start() first");
}

TEST_CASE("the versions of PipeDream, of vertical sync and of PipeDream-2BW, by the examples of their papers") {
  CHECK(pipedream_version(2, 1, 4) == 0);
  CHECK(pipedream_version(3, 1, 4) == 1);
  CHECK(pipedream_version(7, 3, 4) == 7);
  CHECK(vertical_sync_version(3, 4) == 0);
  CHECK(vertical_sync_version(7, 4) == 4);
  for (std::int64_t i = 0; i < 9; ++i) CHECK(pipedream_version(i, 0, 1) == i);
  for (std::int64_t i = 0; i < 8; ++i) CHECK(pipedream_2bw_version(i, 4) == 0);
  for (std::int64_t i = 8; i < 12; ++i) CHECK(pipedream_2bw_version(i, 4) == 1);
}

}  // namespace
}  // namespace lab::optc
