#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "vae_sequence_parallel/structure.h"

// Allowed cost of the parallel modules per rank, as documented in parallel_layers.h and sequence_attention.h: modules
// of the same structure whose forward passes count instead of computing. What a layer may hold is what a solution holds
// that takes every step in a tensor of its own. On 1 to 8 ranks, with LibTorch 1.13, the reference holds 0.15 to 0.73
// of that; one that moves nothing, works nowhere in place and has channels first in memory, up to 0.93.
namespace lab::vae {

/// A picture on its way through the layers of one rank: its current size and its cost so far, forward but for traffic.
struct PictureCost {
  int rank = 0;
  std::int64_t batch = 1;
  std::int64_t height = 1;
  std::vector<std::int64_t> widths;  ///< of each rank
  std::int64_t value_bytes = 4;
  bool with_gradient = false;  ///< count the backward pass as well
  LedgerEntry messages, all_gather, all_to_all;
  std::int64_t product_flops = 0;  ///< of convolutions and attention on this rank
  std::int64_t border_flops = 0;   ///< of convolutions, of as many more columns as the kernel has
  std::int64_t num_values = 0;     ///< of all layers' outputs and moments on this rank
  std::int64_t kept_values = 0;    ///< what the module around the current layer holds meanwhile
  std::int64_t least_held = 0;     ///< bytes: a layer's input and output, attention's scores, LibTorch's copies
  std::int64_t most_held = 0;      ///< bytes that a rank may hold, see the layers below

  std::int64_t own_width() const { return widths[static_cast<std::size_t>(rank)]; }

  std::int64_t size() const { return static_cast<std::int64_t>(widths.size()); }
  std::int64_t total_width() const;
  /// Of the rank's own columns and `more`, with this many channels.
  std::int64_t values(std::int64_t channels, std::int64_t more = 0) const;
};

/// At most these calls and bytes sent, at least these bytes received.
CostBound make_bound(const LedgerEntry& spent, const std::string& operation);

/// The cost as bounds: at most these calls, messages and bytes sent, at least these bytes received, and no other
/// collectives. `of_call`: what the task's call does besides, itself.
std::vector<CostBound> make_bounds(const PictureCost& cost, const std::string& task,
                                   const std::vector<CostBound>& of_call = {});

/// What a rank must compute: the products of its own columns, next to which the rest is little; if there are none, as
/// in a norm, 6 operations for each value: mean, distance, square, sum, scale and shift. Three times as much with a
/// backward pass.
std::int64_t least_work(const PictureCost& cost);

/// What a rank may compute: the products of its own columns, twice as often again with a backward pass, and a quarter
/// more; as many more columns as a kernel has, for those who convolve a halo and cut it off; and `per_value` operations
/// for each value of each layer, for norms, activations and sums of gradients.
std::int64_t most_work(const PictureCost& cost, std::int64_t per_value = 40);

/// The same picture in one process.
PictureCost in_one_process(PictureCost cost);

/// The halo: columns of other ranks that a rank's output is computed from, one message from each rank that has some.
/// Holds its input; the same with the halo next to it; its output; and one copy more of the larger of these two, such
/// as in another layout. Besides, LibTorch's copy of the kernel and 64 KiB of buffers, which differ by CPU; and where
/// it does not convolve by oneDNN, an input value for each element of the kernel and output position.
struct Conv2dCost {
  Conv2dCost(const Weights&, const Conv2dOptions& conv_options) : options(conv_options) {}
  PictureCost forward(PictureCost x) const;

  Conv2dOptions options;
};

/// One all-gather of 3 doubles per group and picture; backward, of 2. Holds its input and output and ten times as much
/// as one of them: in float32, five tensors in float64, as the temporaries of one expression,
/// (x - mean) * rstd * weight + bias.
struct GroupNormCost {
  GroupNormCost(const Weights&, std::int64_t num_channels, std::int64_t num_groups = kNumGroups)
      : channels(num_channels), groups(num_groups) {}
  PictureCost forward(PictureCost x) const;

  std::int64_t channels, groups;
};

/// Attention alone, with `heads` heads of `head_channels` channels, among all positions of the picture. Ulysses holds
/// the scores of its own heads in float64, 3 times: scores, exponentials, and one copy more; q, k and v as they were
/// given, stacked, as parts to send, as received, and joined; and queries, keys, values and result in float64.
/// The ring holds the scores of its own positions with another rank's, as often; of its own positions 8 vectors in
/// float64: q, k, v, q scaled, output, its product with the new weights, what replaces it, and the result; of others'
/// 8: keys and values of this block and of the next, both in float64, and one copy more. Backward, twice as many of
/// each: scores, weights and the gradients of both.
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
