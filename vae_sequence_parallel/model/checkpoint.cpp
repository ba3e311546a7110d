#include "vae_sequence_parallel/model/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/checksum.h"
#include "common/tensor/files/mapped_file.h"
#include "common/tensor/files/safetensors.h"

namespace lab::vae {
namespace {

constexpr const char* kConfigKey = "config";

/// ": a, b, c and 12 more"
std::string listed(const std::string& what, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.empty()) return "";
  std::string text = fmt::format("; {} {}: ", names.size(), what);
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

/// The layout of a checkpoint whose tensors have other names than FLUX.1's.
std::string layout_hint(const std::vector<std::string>& names) {
  const auto any = [&](const char* part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(part) != name.npos; });
  };
  // "decoder.up_blocks.0.resnets.0.conv1.weight" for "decoder.up.3.block.0.conv1.weight"
  if (any(".up_blocks.") || any(".down_blocks."))
    return "; hint: this is the layout of diffusers: expected that of FLUX.1's repository, whose file is "
           "ae.safetensors, and not vae/diffusion_pytorch_model.safetensors next to it";
  if (any("first_stage_model."))
    return "; hint: this is a whole model, in which the autoencoder's tensors are first_stage_model.*: expected them "
           "alone, without this beginning";
  return "";
}

AutoEncoderConfig make_config(const std::string& path) {
  const SafetensorsMetadata metadata = load_safetensors_metadata(path);
  const auto found = metadata.find(kConfigKey);
  return found == metadata.end() ? flux_config() : config_from_json(found->second, path);
}

}  // namespace

CheckpointWeights::CheckpointWeights(const std::string& path, at::TensorOptions options)
    : where_(path), options_(options), config_(make_config(path)), tensors_(load_safetensors(path)) {}

CheckpointWeights::CheckpointWeights(TensorMap tensors, std::string where, at::TensorOptions options)
    : where_(std::move(where)), options_(options), tensors_(std::move(tensors)) {}

at::Tensor CheckpointWeights::get(const std::string& name, at::IntArrayRef shape) {
  ++num_asked_;
  const at::Tensor nothing = at::empty(shape, options_.device(at::kMeta));
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    missing_.push_back(name);
    return nothing;
  }
  const at::Tensor stored = found->second;
  tensors_.erase(found);
  if (stored.sizes() != shape || !stored.is_floating_point()) {
    wrong_.push_back(fmt::format("{} {} {} (expected {})", name, dtype_name(stored.scalar_type()),
                                 shape_text(stored.sizes()), shape_text(shape)));
    return nothing;
  }
  const auto format = shape.size() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  return at::empty(shape, options_.memory_format(format)).copy_(stored);
}

void CheckpointWeights::finish() const {
  std::vector<std::string> left_over;
  for (const auto& named : tensors_) left_over.push_back(named.first);
  if (missing_.empty() && wrong_.empty() && left_over.empty()) return;
  throw UsageError(fmt::format(
      "'{}': expected exactly the {} tensors of an autoencoder with ch {} and ch_mult {}{}{}{}{}", where_, num_asked_,
      config_.channels, fmt::join(config_.channel_multipliers, " "), listed("missing", missing_),
      listed("of another shape or dtype", wrong_), listed("not expected", left_over), layout_hint(left_over)));
}

std::string checkpoint_digest(const std::string& path) {
  const MappedFile file(path);
  return fmt::format("{:016x}", compute_checksum({file.data(), file.size_bytes()}));
}

void save_checkpoint(const std::string& path, const TensorMap& parameters, const AutoEncoderConfig& config,
                     at::ScalarType dtype) {
  TensorMap converted;
  for (const auto& [name, tensor] : parameters) converted[name] = tensor.detach().to(dtype);
  save_safetensors(path, converted, {{kConfigKey, to_json(config)}});
}

}  // namespace lab::vae
