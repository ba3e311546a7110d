#pragma once

#include <optional>
#include <vector>

#include "vae_sequence_parallel/layers.h"

// FLUX.1's autoencoder in one process.
namespace lab::vae {

struct DownLevel {
  std::vector<ResnetBlock> block;
  std::optional<Downsample> downsample;
};

/// Pictures [B, 3, H, W] to mean and log-variance [B, 2*z, H/f, W/f], f = config.downsampling().
struct Encoder {
  Encoder(const Weights& weights, const AutoEncoderConfig& config);
  at::Tensor forward(at::Tensor x) const;

  Conv2d conv_in;
  std::vector<DownLevel> down;  ///< down[0] is the full resolution
  Middle<ResnetBlock, AttnBlock> mid;
  GroupNorm norm_out;
  Conv2d conv_out;
};

struct SerialLayers {
  using Conv2d = vae::Conv2d;
  using GroupNorm = vae::GroupNorm;
  using AttnBlock = vae::AttnBlock;
  using ResnetBlock = vae::ResnetBlock;
  using Upsample = vae::Upsample;
};

/// Latents [B, z, h, w] to pictures [B, 3, f*h, f*w].
struct Decoder : DecoderLayers<SerialLayers> {
  using DecoderLayers::DecoderLayers;
  at::Tensor forward(at::Tensor z) const;
};

struct AutoEncoder {
  AutoEncoder(const Weights& weights, const AutoEncoderConfig& sizes);

  /// The latent of a picture: the mean, shifted and scaled.
  /// Shapes    x [B, 3, H, W], values from -1 to 1; out [B, z, H/f, W/f]
  /// Errors    ContractError: another number of channels or dimensions; a side that is not a multiple of f
  at::Tensor encode(const at::Tensor& x) const;

  /// The picture of a latent.
  /// Shapes    z [B, z, h, w]; out [B, 3, f*h, f*w]
  /// Errors    ContractError: another number of channels or dimensions
  at::Tensor decode(const at::Tensor& z) const;

  AutoEncoderConfig config;
  Encoder encoder;
  Decoder decoder;
};

/// The parts of encode() and decode() around the network: checks of the input, and the scaling of a latent.
at::Tensor encode(const Encoder& encoder, const at::Tensor& x, const AutoEncoderConfig& config);
void check_latent(const at::Tensor& z, const AutoEncoderConfig& config);
at::Tensor unscaled(const at::Tensor& z, const AutoEncoderConfig& config);

}  // namespace lab::vae
