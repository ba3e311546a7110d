#include "vae_sequence_parallel/cases/case_pictures.h"

#include <numeric>

#include "common/api/partition.h"
#include "common/tensor/seeded.h"

namespace lab::vae {

Widths spread(std::int64_t total) {
  return [total](int size) { return uneven_sizes(total, size, "width"); };
}

Widths spread_per_rank(std::int64_t each) {
  return [each](int size) { return uneven_sizes(each * size + 3, size, "width"); };
}

std::vector<std::int64_t> narrow_widths(int size) {
  return uneven_sizes(size + 1, size, "width");
}

std::vector<std::int64_t> rising_widths(int size) {
  std::vector<std::int64_t> widths(static_cast<std::size_t>(size));
  std::iota(widths.begin(), widths.end(), 1);
  return widths;
}

std::vector<std::int64_t> gapped_widths(int size) {
  std::vector<std::int64_t> widths;
  for (int rank = 0; rank < size; ++rank) widths.push_back(rank % 2 == 0 ? 3 : 0);
  return widths;
}

at::Tensor make_picture(const PictureSetup& setup, int size, std::uint64_t seed) {
  const std::vector<std::int64_t> widths = setup.widths(size);
  const std::int64_t width = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  const at::Tensor slopes = at::arange(setup.channels, at::kDouble).remainder(3).add(1).view({-1, 1, 1});
  const at::Tensor ramp = slopes * at::linspace(-1, 1, width, at::kDouble);
  at::Tensor picture = 0.5 * seeded_randn({setup.batch, setup.channels, setup.height, width}, seed, at::kDouble) + ramp;
  picture.mul_(setup.deviation / picture.std()).add_(setup.mean);
  return picture.to(setup.dtype).contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor own_part(const at::Tensor& whole, std::int64_t dim, const std::vector<std::int64_t>& sizes, int rank) {
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + rank, std::int64_t{0});
  return whole.narrow(dim, begin, sizes[static_cast<std::size_t>(rank)]);
}

at::Tensor own_columns(const at::Tensor& whole, const std::vector<std::int64_t>& widths, int rank) {
  return own_part(whole, 3, widths, rank).clone(at::MemoryFormat::ChannelsLast);
}

Tolerance tolerance_of(at::ScalarType dtype) {
  Tolerance tolerance;
  tolerance.rtol = 0;
  tolerance.atol = std::numeric_limits<double>::infinity();
  tolerance.relative_norm = dtype == at::kDouble ? 1e-12 : 1e-6;
  return tolerance;
}

}  // namespace lab::vae
