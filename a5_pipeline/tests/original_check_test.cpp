#include <algorithm>
#include <cmath>
#include <functional>

#include "a5_pipeline/baseline.h"
#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/comparisons.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"

// Why the handout's own check proves nothing: with the default initialisation of nn::Linear the signal fades from layer
// to layer, until everything is below the absolute tolerance of torch.testing.assert_close.
namespace lab::a5 {
namespace {

/// The handout's twelve layers and its proportions, small.
PipelineArguments handout_arguments() {
  PipelineArguments arguments;
  arguments.global_batch_size = 8;
  arguments.sequence_length = 8;
  arguments.number_of_layers = 12;
  arguments.activation = Activation::kRelu;
  return arguments;
}

/// Its weights: uniform in +-1 / sqrt(fan_in).
void fill_as_handout(const Model& model) {
  for (const Layer& layer : model.layers()) {
    const at::Generator generator = make_generator(rank_seed(99, layer.index));
    init_linear_uniform(layer.fc1, layer.fc1.size(1), generator);
    init_linear_uniform(layer.fc2, layer.fc2.size(1), generator);
  }
}

double root_mean_square(const at::Tensor& tensor) {
  return tensor.norm().item<double>() / std::sqrt(static_cast<double>(tensor.numel()));
}

/// What the first layers give, of the twelve.
PipelineResult results_of_layers(std::size_t num_layers) {
  const PipelineArguments arguments = handout_arguments();
  std::vector<std::int64_t> layers = all_layers(arguments);
  layers.resize(num_layers);
  const Model model(arguments, layers);
  fill_as_handout(model);
  DataLoader data(arguments);
  PipelineResult result;
  result.outputs = baseline_forward_backward(model, data, arguments);
  result.gradients = model.gradients();
  return result;
}

PipelineResult handout_baseline() {
  return results_of_layers(12);
}

/// The verdicts of two checks on a pipeline's results.
struct Verdicts {
  bool original = true;  ///< torch.testing.assert_close: |difference| <= 1e-5 + 1.3e-6 |expected|
  bool ours = true;
};

Verdicts verdicts_on(const PipelineResult& result) {
  const PipelineResult baseline = handout_baseline();
  Verdicts verdicts;
  const auto assert_close = [&](const at::Tensor& actual, const at::Tensor& expected) {
    verdicts.original = verdicts.original && at::allclose(actual, expected, 1.3e-6, 1e-5);
  };
  for (std::size_t i = 0; i < result.outputs.size(); ++i) assert_close(result.outputs[i], baseline.outputs[i]);
  for (const auto& [name, gradient] : result.gradients) assert_close(gradient, baseline.gradients.at(name));
  const Tolerance tolerance = tolerance_of(at::kFloat);
  verdicts.ours = outputs_match(result.outputs, baseline.outputs, tolerance, 0, 1).value_or(false);
  for (const auto& [name, right] : gradients_match(result.gradients, baseline.gradients, tolerance))
    verdicts.ours = verdicts.ours && right;
  return verdicts;
}

PipelineResult with_gradients_times(double factor) {
  PipelineResult result = handout_baseline();
  for (const auto& [name, gradient] : result.gradients) gradient.mul_(factor);
  return result;
}

TEST_CASE("the original check: the signal fades by a factor of about 4 in each layer") {
  const PipelineArguments arguments = handout_arguments();
  at::Tensor x = DataLoader(arguments).micro_batch(0);
  for (std::int64_t layer = 0; layer < arguments.number_of_layers; ++layer) {
    const Model model(arguments, {layer});
    fill_as_handout(model);
    const at::Tensor out = model.forward(x).detach();
    CAPTURE(layer);
    CHECK(root_mean_square(x) / root_mean_square(out) > 3);
    CHECK(root_mean_square(x) / root_mean_square(out) < 6);
    x = out;
  }
  CHECK(root_mean_square(x) < 1e-6);
  for (const auto& [name, gradient] : handout_baseline().gradients) {
    CAPTURE(name);
    CHECK(gradient.norm().item<double>() > 0);
    CHECK(gradient.abs().max().item<double>() < 1e-5);
    CHECK(at::allclose(at::zeros_like(gradient), gradient, 1.3e-6, 1e-5));
  }
}

TEST_CASE("the original check accepts what is right but for rounding, and so does ours") {
  const Verdicts verdicts = verdicts_on(with_gradients_times(1 + 3e-7));
  CHECK(verdicts.original);
  CHECK(verdicts.ours);
}

TEST_CASE("the original check accepts what is wrong, and ours refuses it on the same tensors") {
  PipelineResult reversed = handout_baseline();
  std::reverse(reversed.outputs.begin(), reversed.outputs.end());
  const PipelineResult results[] = {reversed,
                                    with_gradients_times(0),        // cleared at the end
                                    with_gradients_times(2),        // a backward pass run twice
                                    with_gradients_times(1.0 / 4),  // divided by the number of micro-batches
                                    with_gradients_times(-1),
                                    results_of_layers(10)};  // layers / stages each, on 5 stages
  for (const PipelineResult& wrong : results) {
    CAPTURE(&wrong - results);
    const Verdicts verdicts = verdicts_on(wrong);
    CHECK(verdicts.original);
    CHECK_FALSE(verdicts.ours);
  }
}

}  // namespace
}  // namespace lab::a5
