#include "vae_sequence_parallel/moments.h"

#include <algorithm>

namespace lab::vae {
namespace {

/// The part of a picture, in float64, that fits in a core's cache while it is read several times.
constexpr std::int64_t kChunkBytes = 1 << 19;

/// For each channel of some rows, [B, C, 1, 1]: the mean, and the sum of squared distances from it.
struct RowSums {
  /// distance: workspace, shaped like rows, float64.
  RowSums(const at::Tensor& rows, at::Tensor distance) {
    distance.copy_(rows);
    mean = distance.mean({2, 3}, true);
    m2 = distance.sub_(mean).square_().sum({2, 3}, true);
  }
  at::Tensor mean, m2;
};

/// Merges moments along the last dimension: [..., 3].
at::Tensor moments_of_union(const at::Tensor& part_n, const at::Tensor& part_mean, const at::Tensor& part_m2) {
  const at::Tensor n = part_n.sum(-1, true);
  const at::Tensor mean = (part_n * part_mean).sum(-1, true) / n;
  const at::Tensor m2 = (part_m2 + part_n * (part_mean - mean).square()).sum(-1, true);
  return at::cat({n, mean, m2}, -1);
}

}  // namespace

at::Tensor local_moments(const at::Tensor& x, std::int64_t num_groups) {
  const std::int64_t batch = x.size(0), height = x.size(2), width = x.size(3);
  if (x.numel() == 0) return at::zeros({batch, num_groups, 3}, x.options().dtype(at::kDouble));
  const auto row_bytes = x.numel() / height * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t chunk_rows = std::clamp(kChunkBytes / row_bytes, std::int64_t{1}, height);
  const at::Tensor distance = at::empty_like(x.narrow(2, 0, chunk_rows), x.options().dtype(at::kDouble));
  std::vector<at::Tensor> means, m2s;
  std::vector<double> counts;
  for (std::int64_t row = 0; row < height; row += chunk_rows) {
    const std::int64_t num_rows = std::min(chunk_rows, height - row);
    const RowSums chunk(x.narrow(2, row, num_rows), distance.narrow(2, 0, num_rows));
    means.push_back(chunk.mean);
    m2s.push_back(chunk.m2);
    counts.push_back(static_cast<double>(num_rows * width));
  }
  const at::Tensor mean = at::cat(means, 2).squeeze(3);  // [B, C, chunks]
  const at::Tensor m2 = at::cat(m2s, 2).squeeze(3);
  const at::Tensor n = at::tensor(counts, mean.options());
  const auto of_groups = [&](const at::Tensor& values) { return values.reshape({batch, num_groups, -1}); };
  return moments_of_union(of_groups(n.expand_as(mean)), of_groups(mean), of_groups(m2));
}

at::Tensor of_channels(const at::Tensor& of_groups, std::int64_t num_channels) {
  return of_groups.repeat_interleave(num_channels / of_groups.size(1), 1).unsqueeze(-1).unsqueeze(-1);
}

GroupStatistics::GroupStatistics(const at::Tensor& moments, double epsilon)
    : n(moments.select(-1, 0).clamp_min(1)),
      mean(moments.select(-1, 1)),
      rstd((moments.select(-1, 2) / n + epsilon).rsqrt()) {}

at::Tensor normalized(const at::Tensor& x, const GroupStatistics& statistics, const at::Tensor& weight,
                      const at::Tensor& bias) {
  const auto dtype = x.scalar_type();
  const at::Tensor scale = (of_channels(statistics.rstd, x.size(1)) * weight.view({-1, 1, 1})).to(dtype);
  // From the rounded scale: the mean maps exactly to the bias, however large it is.
  const at::Tensor shift = bias.view({-1, 1, 1}) - of_channels(statistics.mean, x.size(1)) * scale;
  return at::addcmul(shift.to(dtype), x, scale);
}

}  // namespace lab::vae
