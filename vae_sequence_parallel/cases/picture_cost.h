#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "vae_sequence_parallel/structure.h"

// What the parallel modules may cost a rank, as parallel_layers.h and sequence_attention.h promise: modules of the same
// structure whose forward passes count in the place of computing.
namespace lab::vae {

/// A picture on its way through the layers of one rank: its size by now, and what was spent on it so far.
struct PictureCost {
  int rank = 0;
  std::int64_t batch = 1;
  std::int64_t height = 1;
  std::vector<std::int64_t> widths;  ///< of each rank
  std::int64_t value_bytes = 4;
  bool with_gradient = false;  ///< count the backward pass as well
  LedgerEntry messages, all_gather, all_to_all;

  std::int64_t size() const { return static_cast<std::int64_t>(widths.size()); }
  std::int64_t total_width() const;
};

/// The spent as bounds: calls, messages and bytes sent at most, bytes received at least. Other collectives not at all,
/// but for all-reduces besides a backward pass, for gradients of parameters.
std::vector<CostBound> bounds_of(const PictureCost& cost, const std::string& task);

/// The columns beside its own that each rank's output is made from, one message from each rank that has some.
struct Conv2dCost {
  Conv2dCost(const Weights&, const Conv2dOptions& conv_options) : options(conv_options) {}
  PictureCost forward(PictureCost x) const;

  Conv2dOptions options;
};

/// One all-gather of 3 doubles per group and picture; backward, of 2.
struct GroupNormCost {
  GroupNormCost(const Weights&, std::int64_t, std::int64_t num_groups = kNumGroups) : groups(num_groups) {}
  PictureCost forward(PictureCost x) const;

  std::int64_t groups;
};

/// Of attention alone, of `heads` heads of `head_channels` channels, among all positions of the picture.
PictureCost with_ulysses(PictureCost x, std::int64_t heads, std::int64_t head_channels);
PictureCost with_ring(PictureCost x, std::int64_t heads, std::int64_t head_channels);

struct AttnBlockCost : AttnLayers<GroupNormCost, Conv2dCost> {
  AttnBlockCost(const Weights& weights, std::int64_t num_channels, std::int64_t heads)
      : AttnLayers(weights, num_channels, heads), channels(num_channels) {}
  PictureCost forward(PictureCost x) const;

  std::int64_t channels;
};

struct ResnetBlockCost : ResnetLayers<GroupNormCost, Conv2dCost> {
  using ResnetLayers::ResnetLayers;
  PictureCost forward(PictureCost x) const;
};

struct UpsampleCost {
  UpsampleCost(const Weights& weights, std::int64_t num_channels)
      : conv(weights / "conv", {num_channels, num_channels}) {}
  PictureCost forward(PictureCost x) const;

  Conv2dCost conv;
};

struct CostLayers {
  using Conv2d = Conv2dCost;
  using GroupNorm = GroupNormCost;
  using AttnBlock = AttnBlockCost;
  using ResnetBlock = ResnetBlockCost;
  using Upsample = UpsampleCost;
};

struct DecoderCost : DecoderLayers<CostLayers> {
  using DecoderLayers::DecoderLayers;
  PictureCost forward(PictureCost x) const;
};

}  // namespace lab::vae
