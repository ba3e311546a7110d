#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "vae_sequence_parallel/structure.h"

// Allowed cost of the parallel modules per rank, as documented in parallel_layers.h and sequence_attention.h: modules
// of the same structure whose forward passes count instead of computing.
namespace lab::vae {

/// A picture on its way through the layers of one rank: its current size and its cost so far.
struct PictureCost {
  int rank = 0;
  std::int64_t batch = 1;
  std::int64_t height = 1;
  std::vector<std::int64_t> widths;  ///< of each rank
  std::int64_t value_bytes = 4;
  bool with_gradient = false;  ///< count the backward pass as well
  LedgerEntry messages, all_gather, all_to_all;
  std::int64_t product_flops = 0;  ///< of convolutions and attention on this rank, forward
  std::int64_t border_flops = 0;   ///< of convolutions, of as many more columns as the kernel has
  std::int64_t num_values = 0;     ///< of all layers' outputs and moments on this rank

  std::int64_t own_width() const { return widths[static_cast<std::size_t>(rank)]; }

  std::int64_t size() const { return static_cast<std::int64_t>(widths.size()); }
  std::int64_t total_width() const;
};

/// The cost as bounds: at most these calls, messages and bytes sent, at least these bytes received. No other
/// collectives, except all-reduces of parameter gradients with a backward pass.
std::vector<CostBound> bounds_of(const PictureCost& cost, const std::string& task);

/// What a rank may compute: the products of its own columns, twice as often again with a backward pass, and a quarter
/// more; as many more columns as a kernel has, for those who convolve a halo and cut it off; and 40 operations for each
/// value of each layer, for norms, activations and sums of gradients.
std::int64_t most_work(const PictureCost& cost);

/// The same picture in one process.
PictureCost in_one_process(PictureCost cost);

/// The halo: columns of other ranks that a rank's output is computed from, one message from each rank that has some.
struct Conv2dCost {
  Conv2dCost(const Weights&, const Conv2dOptions& conv_options) : options(conv_options) {}
  PictureCost forward(PictureCost x) const;

  Conv2dOptions options;
};

/// One all-gather of 3 doubles per group and picture; backward, of 2.
struct GroupNormCost {
  GroupNormCost(const Weights&, std::int64_t num_channels, std::int64_t num_groups = kNumGroups)
      : channels(num_channels), groups(num_groups) {}
  PictureCost forward(PictureCost x) const;

  std::int64_t channels, groups;
};

/// Attention alone, with `heads` heads of `head_channels` channels, among all positions of the picture.
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
