#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vae_sequence_parallel/conv2d.h"
#include "vae_sequence_parallel/model/config.h"

// The layers of each module and the names of their parameters, shared by the serial and the parallel modules. The
// parallel ones use other layers, and their constructors take one more argument, the communicator (`where`).
namespace lab::vae {

template <class Norm, class Conv>
struct ResnetLayers {
  template <class... Where>
  ResnetLayers(const Weights& weights, std::int64_t in_channels, std::int64_t out_channels, Where&... where)
      : norm1(weights / "norm1", in_channels, where...),
        conv1(weights / "conv1", Conv2dOptions{in_channels, out_channels}, where...),
        norm2(weights / "norm2", out_channels, where...),
        conv2(weights / "conv2", Conv2dOptions{out_channels, out_channels}, where...) {
    if (in_channels != out_channels)
      nin_shortcut.emplace(weights / "nin_shortcut", pointwise(in_channels, out_channels), where...);
  }

  Norm norm1;
  Conv conv1;
  Norm norm2;
  Conv conv2;
  std::optional<Conv> nin_shortcut;  ///< matches x if the number of channels changes
};

template <class Norm, class Conv>
struct AttnLayers {
  template <class... Where>
  AttnLayers(const Weights& weights, std::int64_t num_channels, std::int64_t heads, Where&... where)
      : num_heads(heads),
        norm(weights / "norm", num_channels, where...),
        q(weights / "q", pointwise(num_channels, num_channels), where...),
        k(weights / "k", pointwise(num_channels, num_channels), where...),
        v(weights / "v", pointwise(num_channels, num_channels), where...),
        proj_out(weights / "proj_out", pointwise(num_channels, num_channels), where...) {}

  std::int64_t num_heads;
  Norm norm;
  Conv q, k, v, proj_out;
};

/// The part at the lowest resolution.
template <class Block, class Attn>
struct Middle {
  template <class... Where>
  Middle(const Weights& weights, std::int64_t num_channels, std::int64_t num_heads, Where&... where)
      : block_1(weights / "block_1", num_channels, num_channels, where...),
        attn_1(weights / "attn_1", num_channels, num_heads, where...),
        block_2(weights / "block_2", num_channels, num_channels, where...) {}

  template <class Picture>
  Picture forward(Picture x) const {
    return block_2.forward(attn_1.forward(block_1.forward(std::move(x))));
  }

  Block block_1;
  Attn attn_1;
  Block block_2;
};

/// One resolution of a decoder.
template <class Block, class Up>
struct UpLevel {
  std::vector<Block> block;
  std::optional<Up> upsample;
};

/// Layers is a family: Conv2d, GroupNorm, AttnBlock, ResnetBlock, Upsample.
template <class Layers>
struct DecoderLayers {
  using Level = UpLevel<typename Layers::ResnetBlock, typename Layers::Upsample>;

  template <class... Where>
  DecoderLayers(const Weights& weights, const AutoEncoderConfig& config, Where&... where)
      : conv_in(weights / "conv_in", Conv2dOptions{config.z_channels, lowest(config)}, where...),
        mid(weights / "mid", lowest(config), config.num_heads, where...),
        up(static_cast<std::size_t>(config.num_levels())),
        norm_out(weights / "norm_out", config.channels_of_level(0), where...),
        conv_out(weights / "conv_out", Conv2dOptions{config.channels_of_level(0), config.out_channels}, where...) {
    std::int64_t in_channels = lowest(config);
    for (std::int64_t i = config.num_levels() - 1; i >= 0; --i) {
      const Weights place = weights / "up" / i;
      const std::int64_t out_channels = config.channels_of_level(i);
      Level& level = up[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j <= config.num_res_blocks; ++j, in_channels = out_channels)
        level.block.emplace_back(place / "block" / j, in_channels, out_channels, where...);
      if (i > 0) level.upsample.emplace(place / "upsample", out_channels, where...);
    }
  }

  static std::int64_t lowest(const AutoEncoderConfig& config) {
    return config.channels_of_level(config.num_levels() - 1);
  }

  typename Layers::Conv2d conv_in;
  Middle<typename Layers::ResnetBlock, typename Layers::AttnBlock> mid;
  std::vector<Level> up;  ///< up[0] is the full resolution, and comes last
  typename Layers::GroupNorm norm_out;
  typename Layers::Conv2d conv_out;
};

}  // namespace lab::vae
