#include "vae_sequence_parallel/model/training.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "common/base/errors.h"
#include "common/tensor/mixing.h"
#include "vae_sequence_parallel/generated_picture.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

namespace lab::vae {
namespace {

constexpr std::int64_t kNumScalingBatches = 32;

bool ends_in(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// Initial parameters: every block starts as the identity, and convolutions preserve the scale of values.
class FirstWeights : public WeightSource {
 public:
  explicit FirstWeights(std::uint64_t seed) : seeded_(seed) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    at::Tensor tensor = seeded_.get(name, shape);
    if (ends_in(name, "conv2.weight") || ends_in(name, "proj_out.weight")) return tensor.zero_();
    return shape.size() == 4 ? tensor.mul_(std::sqrt(3.0)) : tensor;
  }

 private:
  SeededWeights seeded_;
};

/// Another source's parameters, with gradients.
class LearningWeights : public WeightSource {
 public:
  explicit LearningWeights(WeightSource& source) : source_(source) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    at::Tensor tensor = source_.get(name, shape);
    if (shape.size() == 4) tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    return parameters[name] = tensor.requires_grad_();
  }

  TensorMap parameters;

 private:
  WeightSource& source_;
};

/// The number-th training picture, [1, 3, side, side]: every other one is a crop of a larger picture, so that objects
/// have various sizes.
at::Tensor training_picture(const TrainingOptions& options, std::int64_t side, std::uint64_t number) {
  const std::uint64_t seed = splitmix64(options.seed ^ splitmix64(number));
  const std::int64_t factor = 1 + static_cast<std::int64_t>(number % 2);
  const at::Tensor picture = generated_picture(factor * side, factor * side, seed);
  const at::Tensor piece = picture.narrow(0, 0, side).narrow(1, 0, side);
  return piece.permute({2, 0, 1}).unsqueeze(0).to(at::kFloat).div_(127.5).sub_(1);
}

at::Tensor batch_of(const TrainingOptions& options, std::int64_t step) {
  const std::int64_t side = options.sides[static_cast<std::size_t>(step) % options.sides.size()];
  std::vector<at::Tensor> pictures;
  for (std::int64_t i = 0; i < options.batch_size; ++i)
    pictures.push_back(training_picture(options, side, static_cast<std::uint64_t>(step * options.batch_size + i)));
  return at::cat(pictures).contiguous(at::MemoryFormat::ChannelsLast);
}

double learning_rate(const TrainingOptions& options, std::int64_t step) {
  const double warm = std::min(
      1.0, static_cast<double>(step + 1) / static_cast<double>(std::max<std::int64_t>(1, options.num_warm_up_steps)));
  const double done = static_cast<double>(step) / static_cast<double>(options.num_steps);
  return options.learning_rate * warm * (0.5 * (1 + std::cos(M_PI * done)) + 0.005);
}

/// Scales latents to mean 0 and deviation 1, as generative models expect.
void fit_scale(AutoEncoder& model, const TrainingOptions& options) {
  const c10::NoGradGuard no_gradient;
  std::vector<at::Tensor> latents;
  for (std::int64_t i = 0; i < kNumScalingBatches; ++i)
    latents.push_back(model.encode(batch_of(options, options.num_steps + i)).flatten());
  const at::Tensor all = at::cat(latents).to(at::kDouble);
  model.config.shift_factor = all.mean().item<double>();
  model.config.scale_factor = 1 / all.std().item<double>();
}

}  // namespace

TrainedModel train(AutoEncoderConfig config, const TrainingOptions& options, const TensorMap& first,
                   const std::function<void(std::int64_t step, double loss)>& on_step) {
  config.scale_factor = 1;
  config.shift_factor = 0;
  FirstWeights seeded(options.seed);
  CheckpointWeights given(first, "the parameters to begin with");
  LearningWeights weights(first.empty() ? static_cast<WeightSource&>(seeded) : given);
  AutoEncoder model(Weights(weights), config);
  if (!first.empty()) given.finish();
  std::vector<at::Tensor> learning;
  for (const auto& named : weights.parameters) learning.push_back(named.second);
  torch::optim::Adam optimizer(learning, torch::optim::AdamOptions(options.learning_rate).betas({0.9, 0.99}));
  for (std::int64_t step = 0; step < options.num_steps; ++step) {
    static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(learning_rate(options, step));
    const at::Tensor pictures = batch_of(options, step);
    optimizer.zero_grad();
    const at::Tensor loss = at::mse_loss(model.decode(model.encode(pictures)), pictures);
    loss.backward();
    optimizer.step();
    const double value = loss.item<double>();
    if (!std::isfinite(value))
      throw UsageError(fmt::format("train: the loss is {} at step {}; hint: use a lower --learning-rate", value, step));
    on_step(step + 1, value);
  }
  fit_scale(model, options);
  return {model.config, weights.parameters};
}

}  // namespace lab::vae
