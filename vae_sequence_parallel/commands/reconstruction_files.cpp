#include "vae_sequence_parallel/commands/reconstruction_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/option_value.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/files/torch_file.h"

namespace lab::vae {
namespace {

constexpr const char* kCheckpointKey = "checkpoint_digest";
constexpr const char* kFlopsKey = "flops";

void require_step(const std::string& path, const char* step) {
  if (!std::filesystem::exists(path))
    throw UsageError(fmt::format("'{}' does not exist: the step {} writes it; hint: run {} first, with the same --out",
                                 path, step, step));
}

std::int64_t make_whole(const SafetensorsMetadata& metadata, const std::string& key, const std::string& path) {
  const auto found = metadata.find(key);
  const auto value = found == metadata.end() ? std::nullopt : option::integer<std::int64_t>(found->second);
  if (!value || *value < 0) throw UsageError(fmt::format("'{}': expected an integer '{}' in its metadata", path, key));
  return *value;
}

const at::Tensor& rebuild_tensor(const TensorMap& tensors, const std::string& name, const std::string& path) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw UsageError(fmt::format("'{}': expected a tensor '{}' in it", path, name));
  return found->second;
}

bool same(const at::Tensor& left, const at::Tensor& right) {
  return left.sizes() == right.sizes() && left.scalar_type() == right.scalar_type() && at::equal(left, right);
}

}  // namespace

ReconstructionFiles::ReconstructionFiles(const std::string& folder)
    : picture(folder + "/picture.png"),
      latent_pt(folder + "/latent_code.pt"),
      latent(folder + "/latent_code.safetensors"),
      baseline_jpg(folder + "/reconstructed_baseline.jpg"),
      baseline(folder + "/reconstructed_baseline.safetensors"),
      parallel_jpg(folder + "/reconstructed_parallel.jpg"),
      parallel(folder + "/reconstructed_parallel.safetensors") {}

void save_latent(const ReconstructionFiles& files, const Latent& latent) {
  save_safetensors(files.latent, {{"latent", latent.z}},
                   {{"height", std::to_string(latent.height)},
                    {"width", std::to_string(latent.width)},
                    {kCheckpointKey, latent.checkpoint_digest}});
  save_torch_tensor(files.latent_pt, latent.z);
}

Latent load_latent(const ReconstructionFiles& files, const AutoEncoderConfig& config) {
  require_step(files.latent_pt, "encode");
  Latent latent;
  latent.z = load_torch_tensor(files.latent_pt);
  if (latent.z.dim() != 4 || latent.z.size(0) != 1 || latent.z.size(1) != config.z_channels || latent.z.numel() == 0 ||
      !latent.z.is_floating_point()) {
    throw UsageError(fmt::format(
        "'{}': expected a latent of floating-point values [1, {}, h, w], got {} {}; hint: run "
        "encode with the same --checkpoint",
        files.latent_pt, config.z_channels, dtype_name(latent.z.scalar_type()), shape_text(latent.z.sizes())));
  }
  latent.z = latent.z.to(at::kFloat);
  latent.height = latent.z.size(2) * config.downsampling();
  latent.width = latent.z.size(3) * config.downsampling();
  if (!std::filesystem::exists(files.latent)) return latent;
  if (!same(rebuild_tensor(load_safetensors(files.latent), "latent", files.latent), latent.z)) return latent;
  const SafetensorsMetadata metadata = load_safetensors_metadata(files.latent);
  const std::int64_t height = make_whole(metadata, "height", files.latent);
  const std::int64_t width = make_whole(metadata, "width", files.latent);
  if (height < 1 || height > latent.height || width < 1 || width > latent.width) {
    throw UsageError(fmt::format("'{}': expected the size of a picture of up to {} x {}, got {} x {}", files.latent,
                                 latent.height, latent.width, height, width));
  }
  latent.height = height;
  latent.width = width;
  const auto digest = metadata.find(kCheckpointKey);
  if (digest != metadata.end()) latent.checkpoint_digest = digest->second;
  return latent;
}

void require_checkpoint(const Latent& latent, const std::string& digest, const ReconstructionFiles& files,
                        const std::string& checkpoint) {
  if (latent.checkpoint_digest.empty() || latent.checkpoint_digest == digest) return;
  throw UsageError(
      fmt::format("'{}' was encoded with another checkpoint than '{}'; hint: use the same --checkpoint for every "
                  "step, or run encode again",
                  files.latent_pt, checkpoint));
}

void save_baseline(const ReconstructionFiles& files, const Latent& latent, const Baseline& baseline,
                   const std::string& checkpoint_digest) {
  save_safetensors(files.baseline, {{"image", baseline.image}, {"latent", latent.z}},
                   {{"peak_activation_bytes", std::to_string(baseline.peak_activation_bytes)},
                    {kFlopsKey, std::to_string(baseline.flops)},
                    {kCheckpointKey, checkpoint_digest}});
}

Baseline load_baseline(const ReconstructionFiles& files, const Latent& latent, const std::string& checkpoint_digest) {
  require_step(files.baseline, "baseline");
  const TensorMap tensors = load_safetensors(files.baseline);
  if (!same(rebuild_tensor(tensors, "latent", files.baseline), latent.z))
    throw UsageError(
        fmt::format("'{}' is of another latent than '{}'; hint: run baseline again", files.baseline, files.latent_pt));
  const SafetensorsMetadata metadata = load_safetensors_metadata(files.baseline);
  const auto digest = metadata.find(kCheckpointKey);
  if (digest == metadata.end() || digest->second != checkpoint_digest)
    throw UsageError(
        fmt::format("'{}' was decoded with another checkpoint than this run's; hint: use the same --checkpoint for "
                    "every step, or run baseline again",
                    files.baseline));
  Baseline baseline;
  baseline.image = rebuild_tensor(tensors, "image", files.baseline);
  baseline.peak_activation_bytes = make_whole(metadata, "peak_activation_bytes", files.baseline);
  baseline.flops = make_whole(metadata, kFlopsKey, files.baseline);
  return baseline;
}

}  // namespace lab::vae
