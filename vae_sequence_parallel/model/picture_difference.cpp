#include "vae_sequence_parallel/model/picture_difference.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/tensor/files/picture.h"

namespace lab::vae {
namespace {

/// |a - b| as int64, so that no difference, square or sum of squares overflows.
at::Tensor absolute_differences(const at::Tensor& a, const at::Tensor& b) {
  check_picture(a);
  check_picture(b);
  if (a.sizes() != b.sizes()) {
    throw ContractError(
        fmt::format("Expected pictures of one size, got {} and {}.", shape_text(a.sizes()), shape_text(b.sizes())));
  }
  return a.to(at::kLong).sub(b).abs();
}

}  // namespace

double psnr(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor differences = absolute_differences(a, b);
  const auto squares = static_cast<double>(differences.square().sum().item<int64_t>());
  if (squares == 0.0) return std::numeric_limits<double>::infinity();
  return 10.0 * std::log10(255.0 * 255.0 * static_cast<double>(differences.numel()) / squares);
}

at::Tensor difference_picture(const at::Tensor& a, const at::Tensor& b, int64_t factor) {
  if (factor < 1) throw ContractError(fmt::format("Expected a factor of at least 1, got {}.", factor));
  return absolute_differences(a, b).mul(factor < 255 ? factor : 255).clamp_max(255).to(at::kByte);
}

SampleDifferences sample_differences(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor differences = absolute_differences(a, b);
  return {differences.eq(1).sum().item<int64_t>(), differences.gt(1).sum().item<int64_t>(), differences.numel()};
}

}  // namespace lab::vae
