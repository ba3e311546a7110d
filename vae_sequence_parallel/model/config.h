#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab::vae {

/// Groups of channels in every norm.
constexpr std::int64_t kNumGroups = 32;

/// The sizes of an autoencoder of FLUX.1's structure. The defaults are FLUX.1's own: 244 tensors with 83,819,683
/// parameters.
struct AutoEncoderConfig {
  std::int64_t in_channels = 3;
  std::int64_t channels = 128;  ///< of the full-resolution level; a multiple of kNumGroups
  std::int64_t out_channels = 3;
  std::vector<std::int64_t> channel_multipliers = {1, 2, 4, 4};  ///< one per level; the sides halve between levels
  std::int64_t num_res_blocks = 2;                               ///< per level; the decoder has one more
  std::int64_t z_channels = 16;
  double scale_factor = 0.3611;  ///< z = scale_factor * (mean - shift_factor)
  double shift_factor = 0.1159;
  std::int64_t num_heads = 1;  ///< of attention

  std::int64_t num_levels() const { return static_cast<std::int64_t>(channel_multipliers.size()); }
  std::int64_t channels_of_level(std::int64_t level) const {
    return channels * channel_multipliers[static_cast<std::size_t>(level)];
  }
  /// Pixels per latent value, along a side.
  std::int64_t downsampling() const { return std::int64_t{1} << (num_levels() - 1); }
};

/// FLUX.1's.
AutoEncoderConfig flux_config();

/// That of the lab's own checkpoint: multipliers 1 2 2 2 of 32 channels, one block, 8 pixels per latent value.
AutoEncoderConfig small_config();

/// Errors    UsageError: a size below 1, channels not a multiple of the 32 groups or of the number of heads
void check_config(const AutoEncoderConfig& config);

/// JSON, as stored in a checkpoint's metadata under "config".
std::string to_json(const AutoEncoderConfig& config);

/// Errors    UsageError that names `where`: invalid JSON, a missing key, or those of check_config()
AutoEncoderConfig config_from_json(const std::string& text, const std::string& where);

}  // namespace lab::vae
