#pragma once

#include <cstdint>

#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

struct Conv2dOptions {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t kernel = 3;  ///< odd
  std::int64_t stride = 1;
  std::int64_t padding = 1;  ///< zeros on each side, of both axes
};

/// 1x1: each position independently.
inline Conv2dOptions pointwise(std::int64_t in_channels, std::int64_t out_channels) {
  return {in_channels, out_channels, 1, 1, 0};
}

/// at::conv2d with bias, with rounding that does not depend on the picture's size: a slice of a picture gives bitwise
/// the same values as the whole. (By default LibTorch uses another kernel for small pictures.) With gradients, plain
/// at::conv2d.
/// Shapes    x [B, C, H, W]; padding: height, width
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, std::int64_t stride,
                    at::IntArrayRef padding);

/// A convolution with bias.
struct Conv2d {
  Conv2d(const Weights& weights, const Conv2dOptions& conv_options);
  /// Reports progress: if `report` is set, a large picture is convolved in bands of rows, with a report after each.
  at::Tensor forward(const at::Tensor& x) const;

  Conv2dOptions options;
  at::Tensor weight;  ///< [out, in, kernel, kernel]
  at::Tensor bias;    ///< [out]
  std::function<void()> report;
};

}  // namespace lab::vae
