#include "vae_sequence_parallel/model/width_shard.h"

#include <fmt/format.h>

#include <numeric>

#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

namespace lab::vae {

std::int64_t WidthShard::total_width() const {
  return std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
}

WidthShard split_width(const at::Tensor& picture, int rank, int size) {
  if (!picture.defined() || picture.dim() != 4 || picture.size(3) < size) {
    throw ContractError(
        fmt::format("split_width: expected a picture [B, C, H, W] of at least one column for each of {} ranks, got {}",
                    size, describe(picture)));
  }
  const Slice own = uneven_slice(picture.size(3), size, rank, "width");
  return {picture.narrow(3, own.begin, own.size).clone(at::MemoryFormat::ChannelsLast),
          uneven_sizes(picture.size(3), size, "width")};
}

at::Tensor gather_width(const WidthShard& shard, Collectives& collectives) {
  check_shard(shard, 0, collectives.rank(), collectives.size(), "gather_width");
  // With channels last, this is the order in memory: sending needs no copy.
  const at::Tensor own = shard.columns.permute({0, 2, 3, 1});
  std::vector<std::vector<std::int64_t>> shapes;
  for (const std::int64_t width : shard.widths) shapes.push_back({own.size(0), own.size(1), width, own.size(3)});
  const std::vector<at::Tensor> to_each(shapes.size(), own);
  return at::cat(collectives.all_to_all(to_each, shapes), 2).permute({0, 3, 1, 2});
}

void check_shard(const WidthShard& shard, std::int64_t num_channels, int rank, int size, const char* where) {
  if (shard.widths.size() != static_cast<std::size_t>(size)) {
    throw ContractError(fmt::format("{}, rank {}: expected the widths of {} ranks, got {}: {}", where, rank, size,
                                    shard.widths.size(), shape_text(shard.widths)));
  }
  const std::int64_t width = shard.widths[static_cast<std::size_t>(rank)];
  const at::Tensor& x = shard.columns;
  if (x.defined() && x.dim() == 4 && x.size(3) == width && (num_channels <= 0 || x.size(1) == num_channels)) return;
  throw ContractError(fmt::format("{}, rank {}: expected columns of shape [B, {}, H, {}], got {}; widths: {}", where,
                                  rank, num_channels > 0 ? std::to_string(num_channels) : "C", width, describe(x),
                                  shape_text(shard.widths)));
}

}  // namespace lab::vae
