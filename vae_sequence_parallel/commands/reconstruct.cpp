#include <c10/core/GradMode.h>

#include <filesystem>
#include <limits>

#include "common/api/compare.h"
#include "common/api/peak_memory.h"
#include "common/base/files.h"
#include "common/checks/lab_step.h"
#include "common/rank/measured_use.h"
#include "common/tensor/files/picture.h"
#include "common/tensor/files/safetensors.h"
#include "vae_sequence_parallel/cases/megabytes.h"
#include "vae_sequence_parallel/cases/reconstruction_lines.h"
#include "vae_sequence_parallel/commands/reconstruction_files.h"
#include "vae_sequence_parallel/commands/steps.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/picture_difference.h"
#include "vae_sequence_parallel/model/picture_tensor.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"

namespace lab::vae {
namespace {

constexpr double kRelativeNorm = 1e-5;  // a decoder has some 60 layers, each with rounding
// Of samples, by one step of 8 bits. A GPU rounds differently than the CPU, which decoded the baseline, and in a JPEG one
// pixel that is rounded to the next step moves its whole block: there the pictures are compared before, and of the JPEGs
// the noise, in decibels.
constexpr double kMostDifferentShare = 1e-3;
constexpr double kLeastPsnrOnGpu = 60;

/// The data that rank 0 has read, on every rank.
struct Given {
  Latent latent;
  Baseline baseline;
};

at::Tensor shared(const at::Tensor& of_rank_zero, Collectives& collectives) {
  at::Tensor sizes = at::zeros({4}, at::kLong);
  if (collectives.rank() == 0) sizes = at::tensor(of_rank_zero.sizes(), at::kLong);
  collectives.broadcast(sizes, 0);
  const std::vector<std::int64_t> shape(sizes.data_ptr<std::int64_t>(), sizes.data_ptr<std::int64_t>() + 4);
  const at::Tensor tensor = collectives.rank() == 0 ? of_rank_zero.contiguous() : at::empty(shape);
  return collectives.broadcast(tensor, 0);
}

Given given_to_all(const StepOptions& options, const AutoEncoderConfig& config, Collectives& collectives) {
  Given given;
  if (collectives.rank() == 0) {
    const ReconstructionFiles files(options.out_dir);
    given.latent = load_latent(files, config);
    const std::string digest = checkpoint_digest(options.checkpoint);
    require_checkpoint(given.latent, digest, files, options.checkpoint);
    given.baseline = load_baseline(files, given.latent, digest);
    require_width(given.latent.z.size(3), collectives.size());
  }
  given.latent.z = shared(given.latent.z, collectives);
  given.baseline.image = shared(given.baseline.image, collectives);
  at::Tensor used = at::tensor({given.baseline.peak_activation_bytes, given.baseline.flops}, at::kLong);
  used = collectives.broadcast(used, 0);
  given.baseline.peak_activation_bytes = used[0].item<std::int64_t>();
  given.baseline.flops = used[1].item<std::int64_t>();
  return given;
}

void describe_given(RankRun& run, const ReconstructionFiles& files, const Given& given) {
  const at::Tensor picture = read_picture(files.baseline_jpg);
  const at::Tensor& z = given.latent.z;
  run.print(kPictureLine, picture.size(1), picture.size(0), z.size(1), z.size(2), z.size(3));
  if (!std::filesystem::exists(files.picture)) return;  // a latent from elsewhere
  const at::Tensor original = read_picture(files.picture);
  if (original.sizes() == picture.sizes()) run.print(kPsnrLine, psnr(original, picture));
}

bool nearly_same(const SampleDifferences& found) {
  return found.more == 0 &&
         static_cast<double>(found.one_step) <= kMostDifferentShare * static_cast<double>(found.total);
}

/// `of_baseline`, `of_ranks`: the pictures that were written as JPEGs.
void compare_jpegs(RankRun& run, const ReconstructionFiles& files, at::Tensor of_baseline, at::Tensor of_ranks) {
  const at::Tensor baseline = read_picture(files.baseline_jpg), parallel = read_picture(files.parallel_jpg);
  const SampleDifferences found = sample_differences(baseline, parallel);
  run.print(kSamplesLine, found.total, found.one_step, found.more);
  if (run.device.is_cpu()) {
    of_baseline = baseline;
    of_ranks = parallel;
  }
  const bool close = nearly_same(sample_differences(of_baseline, of_ranks)) &&
                     (run.device.is_cpu() || psnr(baseline, parallel) >= kLeastPsnrOnGpu);
  const at::Tensor difference = (of_ranks.to(at::kDouble) - of_baseline.to(at::kDouble)).abs();
  run.out.match({kJpegs, 0, close, difference.max().item<double>(), difference.mean().item<double>()});
}

}  // namespace

void reconstruct(RankRun& run, const StepOptions& options) {
  const c10::NoGradGuard no_gradient;
  const int rank = run.comm.rank();
  const ReconstructionFiles files(options.out_dir);
  const auto model = load_model<ParallelAutoEncoder>(options.checkpoint, run.device, run.comm);
  const Given given = given_to_all(options, model.config, run.comm.collectives());
  if (rank == 0) describe_given(run, files, given);

  const at::Tensor z = given.latent.z.to(run.device);
  PeakMemory memory(run.device);
  at::Tensor image;
  const ResourceUse used = measured_use(run.comm, [&] {
    image = decoded_within_limit(options, fmt::format("rank {} of {}", rank, run.comm.size()),
                                 [&] { return model.decode(z); });
  });
  const std::int64_t peak_bytes = memory.peak_bytes();
  run.note_part(fmt::format("Decoder {}x{}", image.size(-2), image.size(-1)), used,
                {given.baseline.flops, {given.baseline.peak_activation_bytes, 0}, {}});
  image = image.cpu().contiguous();

  Case test_case;
  test_case.name = test_case.prefix = kReconstruction;
  CaseResult result;
  result.inputs.tensors["input.latent"] = given.latent.z;
  result.expected["image"] = given.baseline.image;
  result.record.results["image"] = image;
  const double unbounded = std::numeric_limits<double>::infinity();
  result.comparison = compare(image, given.baseline.image, {0, unbounded, kRelativeNorm});
  run.report(test_case, result);
  run.print(kPeakLine, megabytes(peak_bytes), megabytes(given.baseline.peak_activation_bytes));
  if (rank != 0) return;
  make_folder("--out", options.out_dir);
  const auto make_picture = [&](const at::Tensor& of) {
    return to_picture(of, given.latent.height, given.latent.width);
  };
  write_picture(files.parallel_jpg, make_picture(image));
  save_safetensors(files.parallel, {{"image", image}});
  compare_jpegs(run, files, make_picture(given.baseline.image), make_picture(image));
}

}  // namespace lab::vae
