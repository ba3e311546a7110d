#pragma once

#include <functional>

#include "common/checks/case.h"

// Test data of the cases: pictures that reveal a wrong border, and ways to spread their columns over ranks.
namespace lab::vae {

/// The number of columns on each of `size` ranks.
using Widths = std::function<std::vector<std::int64_t>(int size)>;

/// `total` columns, as evenly as possible.
Widths spread(std::int64_t total);
/// So many on each rank, and three more, as evenly as possible.
Widths spread_per_rank(std::int64_t each);
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

/// The whole picture for `size` ranks: noise on a ramp along the width, with different slopes per channel. So ranks
/// differ in their means, and columns from their neighbours.
at::Tensor make_picture(const PictureSetup& setup, int size, std::uint64_t seed);

/// This rank's part of a whole tensor along dimension `dim`.
at::Tensor own_part(const at::Tensor& whole, std::int64_t dim, const std::vector<std::int64_t>& sizes, int rank);
/// This rank's columns, with channels last in memory.
at::Tensor own_columns(const at::Tensor& whole, const std::vector<std::int64_t>& widths, int rank);

/// On the relative norm only: 1e-6 in float32, 1e-12 in float64.
Tolerance tolerance_of(at::ScalarType dtype);

}  // namespace lab::vae
