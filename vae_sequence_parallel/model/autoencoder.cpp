#include "vae_sequence_parallel/model/autoencoder.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::vae {
namespace {

void check_channels(const at::Tensor& x, std::int64_t channels, const char* what) {
  if (!x.defined() || x.dim() != 4 || x.size(1) != channels || x.numel() == 0) {
    throw ContractError(fmt::format("{}: expected a shape of [B, {}, H, W], none of them 0; got {}", what, channels,
                                    x.defined() ? shape_text(x.sizes()) : "an undefined tensor"));
  }
}

}  // namespace

Encoder::Encoder(const Weights& weights, const AutoEncoderConfig& config)
    : conv_in(weights / "conv_in", {config.in_channels, config.channels}),
      down(static_cast<std::size_t>(config.num_levels())),
      mid(weights / "mid", config.channels_of_level(config.num_levels() - 1), config.num_heads),
      norm_out(weights / "norm_out", config.channels_of_level(config.num_levels() - 1)),
      conv_out(weights / "conv_out", {config.channels_of_level(config.num_levels() - 1), 2 * config.z_channels}) {
  std::int64_t in_channels = config.channels;
  for (std::int64_t i = 0; i < config.num_levels(); ++i) {
    const Weights place = weights / "down" / i;
    const std::int64_t out_channels = config.channels_of_level(i);
    DownLevel& level = down[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < config.num_res_blocks; ++j, in_channels = out_channels)
      level.block.emplace_back(place / "block" / j, in_channels, out_channels);
    if (i < config.num_levels() - 1) level.downsample.emplace(place / "downsample", out_channels);
  }
}

at::Tensor Encoder::forward(at::Tensor x) const {
  x = conv_in.forward(x);
  for (const DownLevel& level : down) {
    for (const ResnetBlock& block : level.block) x = block.forward(std::move(x));
    if (level.downsample) x = level.downsample->forward(x);
  }
  x = mid.forward(std::move(x));
  return conv_out.forward(swish(norm_out.forward(x)));
}

at::Tensor Decoder::forward(at::Tensor z) const {
  at::Tensor x = mid.forward(conv_in.forward(z));
  for (auto level = up.rbegin(); level != up.rend(); ++level) {
    for (const ResnetBlock& block : level->block) x = block.forward(std::move(x));
    if (level->upsample) x = level->upsample->forward(std::move(x));
  }
  x = swish(norm_out.forward(x));
  return conv_out.forward(x);
}

AutoEncoder::AutoEncoder(const Weights& weights, const AutoEncoderConfig& sizes)
    : config(sizes), encoder(weights / "encoder", sizes), decoder(weights / "decoder", sizes) {}

at::Tensor AutoEncoder::encode(const at::Tensor& x) const {
  return vae::encode(encoder, x, config);
}

at::Tensor AutoEncoder::decode(const at::Tensor& z) const {
  check_latent(z, config);
  return decoder.forward(unscaled(z, config));
}

at::Tensor encode(const Encoder& encoder, const at::Tensor& x, const AutoEncoderConfig& config) {
  check_channels(x, config.in_channels, "encode");
  if (x.size(2) % config.downsampling() != 0 || x.size(3) % config.downsampling() != 0) {
    throw ContractError(fmt::format("encode: expected a height and width that {} divides, got {}",
                                    config.downsampling(), shape_text(x.sizes())));
  }
  const at::Tensor moments = encoder.forward(x.contiguous(at::MemoryFormat::ChannelsLast));
  return (moments.narrow(1, 0, config.z_channels) - config.shift_factor) * config.scale_factor;
}

void check_latent(const at::Tensor& z, const AutoEncoderConfig& config) {
  check_channels(z, config.z_channels, "decode");
}

at::Tensor unscaled(const at::Tensor& z, const AutoEncoderConfig& config) {
  return (z / config.scale_factor + config.shift_factor).contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace lab::vae
