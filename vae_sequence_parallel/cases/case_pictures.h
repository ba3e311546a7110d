#pragma once

#include <functional>

#include "common/checks/case.h"

// What the cases are tried on: pictures that see a wrong border, and ways to spread their columns over ranks.
namespace lab::vae {

/// How many columns each of so many ranks has.
using Widths = std::function<std::vector<std::int64_t>(int size)>;

/// So many columns, as even as possible.
Widths spread(std::int64_t total);
/// 2 1 1 1: narrower than a wide kernel's halo.
std::vector<std::int64_t> narrow_widths(int size);
/// 1 2 3 4.
std::vector<std::int64_t> rising_widths(int size);
/// 3 0 3 0.
std::vector<std::int64_t> gapped_widths(int size);

struct PictureSetup {
  std::int64_t batch = 2;
  std::int64_t channels = 32;
  std::int64_t height = 32;
  Widths widths = spread(32);
  at::ScalarType dtype = at::kFloat;
  double mean = 0;
  double deviation = 1;  ///< standard
};

/// The whole picture on so many ranks: in each channel a ramp along the width, of another slope, under noise. So ranks
/// differ in their means, and columns from their neighbours.
at::Tensor picture_of(const PictureSetup& setup, int size, std::uint64_t seed);

/// Dimension `dim` of a whole tensor, split by rank.
at::Tensor own_part(const at::Tensor& whole, std::int64_t dim, const std::vector<std::int64_t>& sizes, int rank);
/// Columns, channels last in memory.
at::Tensor own_columns(const at::Tensor& whole, const std::vector<std::int64_t>& widths, int rank);

/// The norm decides: 1e-6 in float32, 1e-12 in float64.
Tolerance tolerance_of(at::ScalarType dtype);

}  // namespace lab::vae
