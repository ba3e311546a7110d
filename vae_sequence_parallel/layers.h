#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "vae_sequence_parallel/structure.h"

// The modules of the autoencoder in one process, named as in FLUX.1's code. A picture is [B, C, H, W], preferably with
// channels last in memory, which every layer preserves. Without gradients a layer releases its input as soon as it has
// used it: pass it with std::move.
namespace lab::vae {

/// Normalises each group over its channels, height and width, then scales and shifts per channel.
struct GroupNorm {
  static constexpr double kEpsilon = 1e-6;  ///< FLUX.1's; PyTorch's default is 1e-5

  GroupNorm(const Weights& weights, std::int64_t num_channels, std::int64_t groups = kNumGroups);
  at::Tensor forward(const at::Tensor& x) const;

  std::int64_t num_groups;
  at::Tensor weight, bias;  ///< [C]
};

/// x * sigmoid(x). In place if no gradient is needed.
at::Tensor swish(at::Tensor x);

/// left + right. In place in left if no gradient is needed.
at::Tensor residual_sum(at::Tensor left, const at::Tensor& right);

/// Every pixel twice along both axes.
at::Tensor upsample_nearest(const at::Tensor& x);

/// [B, C, H, W] -> [B, heads, H*W, C/heads], positions in row-major order; and back, with channels last in memory.
at::Tensor to_heads(const at::Tensor& x, std::int64_t num_heads);
at::Tensor from_heads(const at::Tensor& heads, std::int64_t height, std::int64_t width);

/// softmax(q k^T / sqrt(K)) v, for each head.
/// Order     in float64, rounded once: the same bits however positions are split and summed
/// Shapes    q and out [B, heads, N, K]; k, v [B, heads, M, K]
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

/// The same; calls `report` after each group of queries.
at::Tensor reported_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::function<void()>& report);

/// x plus attention among all positions of its norm, in `num_heads` heads of C / num_heads channels each.
struct AttnBlock : AttnLayers<GroupNorm, Conv2d> {
  using AttnLayers::AttnLayers;
  at::Tensor forward(at::Tensor x) const;
};

/// x plus two convolutions, each after a norm and swish.
struct ResnetBlock : ResnetLayers<GroupNorm, Conv2d> {
  using ResnetLayers::ResnetLayers;
  at::Tensor forward(at::Tensor x) const;
};

/// Half as high and wide: zeros on the right and below, then a 3x3 convolution with stride 2.
struct Downsample {
  Downsample(const Weights& weights, std::int64_t num_channels);
  at::Tensor forward(const at::Tensor& x) const;

  Conv2d conv;
};

/// Twice as high and wide: every pixel four times, then a 3x3 convolution.
struct Upsample {
  Upsample(const Weights& weights, std::int64_t num_channels);
  at::Tensor forward(at::Tensor x) const;

  Conv2d conv;
};

}  // namespace lab::vae
