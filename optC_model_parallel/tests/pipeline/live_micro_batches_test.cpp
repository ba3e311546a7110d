#include "optC_model_parallel/live_micro_batches.h"

#include "common/api/peak_memory.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/seeded.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::optc {
namespace {

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

}  // namespace
}  // namespace lab::optc
