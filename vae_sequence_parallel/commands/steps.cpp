#include "vae_sequence_parallel/commands/steps.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/files.h"
#include "common/launch/one_rank.h"
#include "common/launch/supervise/cores.h"
#include "common/rank/measured_use.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/files/picture.h"
#include "common/tensor/meters/memory_meter.h"
#include "vae_sequence_parallel/commands/reconstruction_files.h"
#include "vae_sequence_parallel/generated_picture.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/picture_difference.h"
#include "vae_sequence_parallel/model/picture_tensor.h"

namespace lab::vae {
namespace {

at::Tensor make_picture(const StepOptions& options) {
  return options.image.empty() ? generated_picture(options.size, options.size, options.seed)
                               : read_picture(options.image);
}

constexpr std::int64_t kMegabyte = 1'000'000;

std::string find_source(const StepOptions& options) {
  return options.image.empty() ? fmt::format("generated, seed {}", options.seed) : options.image;
}

/// RAII: operations use all cores of this machine, since its other ranks are waiting.
class AllCores {
 public:
  AllCores() : num_threads_(at::get_num_threads()) { use_threads(launch::usable_cores()); }
  ~AllCores() { use_threads(num_threads_); }
  AllCores(const AllCores&) = delete;
  AllCores& operator=(const AllCores&) = delete;

 private:
  const int num_threads_;
};

}  // namespace

std::string encode_step(const StepOptions& options, const comm::ReportProgress& report) {
  const c10::NoGradGuard no_gradient;
  const AllCores all_cores;
  const at::Tensor picture = make_picture(options);
  if (report) report();
  const auto model = load_model<AutoEncoder>(options.checkpoint, at::kCPU, report);
  make_folder("--out", options.out_dir);
  const ReconstructionFiles files(options.out_dir);
  Latent latent;
  latent.height = picture.size(0);
  latent.width = picture.size(1);
  latent.checkpoint_digest = checkpoint_digest(options.checkpoint);
  latent.z = model.encode(to_model_input(picture, model.config.downsampling())).contiguous();
  write_picture(files.picture, picture);
  save_latent(files, latent);
  return fmt::format("encode: a picture of {} x {} ({}) to a latent {}: {}", latent.width, latent.height,
                     find_source(options), shape_text(latent.z.sizes()), files.latent_pt);
}

std::string baseline_step(const StepOptions& options, const comm::ReportProgress& report) {
  const c10::NoGradGuard no_gradient;
  const AllCores all_cores;
  launch::install_meters();
  const auto model = load_model<AutoEncoder>(options.checkpoint, at::kCPU, report);
  const ReconstructionFiles files(options.out_dir);
  const Latent latent = load_latent(files, model.config);
  const std::string digest = checkpoint_digest(options.checkpoint);
  require_checkpoint(latent, digest, files, options.checkpoint);
  Baseline baseline;
  const ResourceUse used = measured_use_of_one_process([&] {
    baseline.image = decoded_within_limit(options, "one process", [&] { return model.decode(latent.z).contiguous(); });
  });
  baseline.peak_activation_bytes = used.memory.peak_bytes;
  baseline.flops = used.flops;
  const at::Tensor picture = to_picture(baseline.image, latent.height, latent.width);
  save_baseline(files, latent, baseline, digest);
  write_picture(files.baseline_jpg, picture);
  const std::string made = fmt::format("baseline: decoded in one process: {}", files.baseline_jpg);
  try {
    return fmt::format("{}, PSNR {:.2f} dB to {}", made, psnr(picture, read_picture(files.picture)), files.picture);
  } catch (const Error&) {  // a latent from elsewhere: no such picture, or one of another size
    return made;
  }
}

at::Tensor decoded_within_limit(const StepOptions& options, const std::string& who,
                                const std::function<at::Tensor()>& decode) {
  if (options.memory_limit_mb == 0) return decode();
  try {
    const MemoryScope limited(options.memory_limit_mb * kMegabyte);
    return decode();
  } catch (const MemoryLimitError& error) {
    throw UsageError(
        fmt::format("--memory-limit {}: {} cannot decode this picture: {}; hint: more ranks, each with "
                    "fewer columns, or a larger limit",
                    options.memory_limit_mb, who, error.what()));
  }
}

void require_width(std::int64_t latent_width, int num_ranks) {
  if (latent_width >= num_ranks) return;
  throw UsageError(
      fmt::format("--nproc {}: expected a latent at least as wide as there are ranks, got {} column(s); "
                  "hint: --nproc {} or a wider picture",
                  num_ranks, latent_width, latent_width));
}

std::int64_t latent_width(const StepOptions& options) {
  const std::int64_t factor = CheckpointWeights(options.checkpoint).config().downsampling();
  const std::int64_t width = options.image.empty() ? options.size : read_picture(options.image).size(1);
  return (width + factor - 1) / factor;
}

}  // namespace lab::vae
