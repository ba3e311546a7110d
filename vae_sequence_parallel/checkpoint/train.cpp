#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/shapes.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/cli/progress.h"
#include "common/launch/supervise/cores.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/mixing.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/generated_picture.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

// The commands that make checkpoints: `train` made small.safetensors (README.md), `init` writes an untrained one.
namespace lab::vae {
namespace {

struct TrainingOptions {
  std::int64_t num_steps = 6000;
  std::int64_t batch_size = 8;
  /// Sides of the square pictures, pixels; each step takes the next one. Norms and attention depend on the size of the
  /// picture: a network trained only on small ones is worse on large ones.
  std::vector<std::int64_t> sides;
  double learning_rate = 2e-3;           ///< Adam's peak learning rate, followed by cosine decay
  std::int64_t num_warm_up_steps = 200;  ///< until the peak
  std::uint64_t seed = 42;
  std::string sizes = "64";  ///< the sides, as --sizes lists them
  std::string from;          ///< a checkpoint to start from; empty: seeded parameters
  std::string out = "small.safetensors";
};

/// A trained model: its parameters, and its config, whose scale and shift make latents about standard normal.
struct TrainedModel {
  AutoEncoderConfig config;
  TensorMap parameters;
};

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

at::Tensor choose_batch(const TrainingOptions& options, std::int64_t step) {
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
    latents.push_back(model.encode(choose_batch(options, options.num_steps + i)).flatten());
  const at::Tensor all = at::cat(latents).to(at::kDouble);
  model.config.shift_factor = all.mean().item<double>();
  model.config.scale_factor = 1 / all.std().item<double>();
}

/// Trains an autoencoder to reconstruct generated pictures: mean squared error of the picture decoded from the latent's
/// mean, Adam. The log-variance is not trained: nothing here samples from it. `first`: initial parameters, empty: seeded
/// ones. `on_step` gets the number of steps done and the step's mean squared error.
/// Order     the same options, threads and library give the same model
/// Errors    UsageError: `first` does not fit the config; the loss is not finite, with the step
TrainedModel train_model(AutoEncoderConfig config, const TrainingOptions& options, const TensorMap& first,
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
    const at::Tensor pictures = choose_batch(options, step);
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

constexpr double kSquaredRange = 4;  // samples lie in [-1, 1]

double compute_psnr(double mean_squared_error) {
  return 10 * std::log10(kSquaredRange / mean_squared_error);
}

std::int64_t count(const TensorMap& parameters) {
  std::int64_t num_values = 0;
  for (const auto& named : parameters) num_values += named.second.numel();
  return num_values;
}

void describe_file(const std::string& path, const TensorMap& parameters, at::ScalarType dtype) {
  fmt::print("{}: {} tensors, {} parameters, {}, {}\n", path, parameters.size(), count(parameters), dtype_name(dtype),
             describe_bytes(static_cast<std::uint64_t>(count(parameters)) * c10::elementSize(dtype)));
}

ExitCode train(TrainingOptions options) {
  options.sides = numbers_in("--sizes", options.sizes, {8, 1024, small_config().downsampling()});
  AtomicFile{options.out};  // an unwritable path fails before the training, not after it
  use_threads(launch::usable_cores());
  cli::ProgressOptions shown;
  shown.label = "training";
  shown.total = options.num_steps;
  cli::Progress progress(shown);
  constexpr std::int64_t kReportEvery = 500;
  double sum = 0;
  TensorMap first;
  if (!options.from.empty()) first = load_safetensors(options.from);
  const TrainedModel model = train_model(small_config(), options, first, [&](std::int64_t step, double loss) {
    sum += loss;
    progress.advance(1, fmt::format("PSNR {:.2f} dB", compute_psnr(loss)));
    if (step % kReportEvery != 0) return;
    fmt::print("step {}: PSNR {:.2f} dB over the last {} steps\n", step, compute_psnr(sum / kReportEvery),
               kReportEvery);
    sum = 0;
  });
  save_checkpoint(options.out, model.parameters, model.config, at::kHalf);
  describe_file(options.out, model.parameters, at::kHalf);
  return ExitCode::kAllMatch;
}

struct InitOptions {
  std::string config = "flux", path = "ae.safetensors", dtype = "float32";
  std::uint64_t seed = 42;
};

ExitCode init(const InitOptions& options) {
  AtomicFile{options.path};
  const AutoEncoderConfig sizes = options.config == "flux" ? flux_config() : small_config();
  SeededWeights weights(options.seed);
  AutoEncoder(Weights(weights), sizes);
  save_checkpoint(options.path, weights.made(), sizes, parse_dtype(options.dtype));
  describe_file(options.path, weights.made(), parse_dtype(options.dtype));
  return ExitCode::kAllMatch;
}

}  // namespace

void train_command(cli::App& app) {
  auto& options = app.own(TrainingOptions());
  app.add_integer("--steps", options.num_steps, {1, 1 << 24}, "optimizer steps");
  app.add_integer("--batch", options.batch_size, {1, 1024}, "pictures per step");
  app.add_text("--sizes", options.sizes, "LIST", "sides of the pictures, pixels, used in turn; multiples of 8");
  app.add_integer("--warm-up", options.num_warm_up_steps, {0, 1 << 24}, "steps until the peak learning rate");
  app.add_number("--learning-rate", options.learning_rate, {0, 1, "X"}, "Adam's peak learning rate");
  app.add_seed("--seed", options.seed, "of the initial parameters and the pictures");
  app.add_text("--from", options.from, "FILE", "checkpoint to start from; default: seeded parameters");
  app.add_text("--out", options.out, "FILE", "the checkpoint, float16");
  app.set_action([&] { return train(options); });
}

void init_command(cli::App& app) {
  auto& options = app.own(InitOptions());
  app.add_choice("--config", options.config, {"flux", "small"}, "sizes");
  app.add_choice("--dtype", options.dtype, {"float32", "float16", "bfloat16"}, "of the file");
  app.add_seed("--seed", options.seed, "of the parameters");
  app.add_text("--out", options.path, "FILE", "the checkpoint");
  app.set_action([&] { return init(options); });
}

}  // namespace lab::vae
