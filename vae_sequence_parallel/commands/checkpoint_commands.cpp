#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/cli/app.h"
#include "common/cli/progress.h"
#include "common/launch/supervise/cores.h"
#include "common/tensor/describe.h"
#include "common/tensor/files/safetensors.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/model/training.h"

namespace lab::vae {
namespace {

constexpr double kSquaredRange = 4;  // samples lie in [-1, 1]

double psnr_of(double mean_squared_error) {
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

}  // namespace

ExitCode train_command(int argc, char** argv) {
  TrainingOptions options;
  std::string path = "small.safetensors", from, sizes = "64";
  App app("vae_sequence_parallel train", "Trains the lab's small autoencoder, on generated pictures only.");
  app.add_integer("--steps", options.num_steps, {1, 1 << 24}, "optimizer steps");
  app.add_integer("--batch", options.batch_size, {1, 1024}, "pictures per step");
  app.add_text("--sizes", sizes, "LIST", "sides of the pictures, pixels, used in turn; multiples of 8");
  app.add_integer("--warm-up", options.num_warm_up_steps, {0, 1 << 24}, "steps until the peak learning rate");
  app.add_number("--learning-rate", options.learning_rate, {0, 1, "X"}, "Adam's peak learning rate");
  app.add_seed("--seed", options.seed, "of the initial parameters and the pictures");
  app.add_text("--from", from, "FILE", "checkpoint to start from; default: seeded parameters");
  app.add_text("--out", path, "FILE", "the checkpoint, float16");
  if (const auto done = app.parse(argc, argv)) return *done;
  options.sides = numbers_in("--sizes", sizes, {8, 1024, small_config().downsampling()});
  AtomicFile{path};  // an unwritable path fails before the training, not after it
  at::set_num_threads(usable_cores());
  ProgressOptions shown;
  shown.label = "training";
  shown.total = options.num_steps;
  Progress progress(shown);
  constexpr std::int64_t kReportEvery = 500;
  double sum = 0;
  TensorMap first;
  if (!from.empty()) first = load_safetensors(from);
  const TrainedModel model = train(small_config(), options, first, [&](std::int64_t step, double loss) {
    sum += loss;
    progress.advance(1, fmt::format("PSNR {:.2f} dB", psnr_of(loss)));
    if (step % kReportEvery != 0) return;
    fmt::print("step {}: PSNR {:.2f} dB over the last {} steps\n", step, psnr_of(sum / kReportEvery), kReportEvery);
    sum = 0;
  });
  save_checkpoint(path, model.parameters, model.config, at::kHalf);
  describe_file(path, model.parameters, at::kHalf);
  return ExitCode::kAllMatch;
}

ExitCode init_command(int argc, char** argv) {
  std::string config = "flux", path = "ae.safetensors", dtype = "float32";
  std::uint64_t seed = 42;
  App app("vae_sequence_parallel init", "Writes an untrained checkpoint with seeded parameters.");
  app.add_choice("--config", config, {"flux", "small"}, "sizes");
  app.add_choice("--dtype", dtype, {"float32", "float16", "bfloat16"}, "of the file");
  app.add_seed("--seed", seed, "of the parameters");
  app.add_text("--out", path, "FILE", "the checkpoint");
  if (const auto done = app.parse(argc, argv)) return *done;
  AtomicFile{path};
  const AutoEncoderConfig sizes = config == "flux" ? flux_config() : small_config();
  SeededWeights weights(seed);
  AutoEncoder(Weights(weights), sizes);
  save_checkpoint(path, weights.made(), sizes, parse_dtype(dtype));
  describe_file(path, weights.made(), parse_dtype(dtype));
  return ExitCode::kAllMatch;
}

}  // namespace lab::vae
