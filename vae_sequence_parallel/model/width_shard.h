#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/api/collectives.h"

namespace lab::vae {

/// A picture that is split along its width: this rank's columns, and the number on each rank. The widths are passed
/// along with the tensor because layers change them: 2 1 1 1 becomes 4 2 2 2 in an Upsample. A rank may have none.
struct WidthShard {
  at::Tensor columns;                ///< [B, C, H, widths[rank]]
  std::vector<std::int64_t> widths;  ///< of each rank, in rank order

  /// Of the whole picture.
  std::int64_t total_width() const;
};

/// This rank's part of a picture that every rank has: split as evenly as possible, the first ranks get one more column.
/// Call      local
/// Aliasing  columns is new, channels last in memory
/// Errors    ContractError: not four dimensions; fewer columns than ranks
/// Example   width 5 on 4 ranks: 2 1 1 1
WidthShard split_width(const at::Tensor& picture, int rank, int size);

/// The whole picture on every rank.
/// Call      collective, blocking, no autograd
/// Cost      the bytes of this rank's columns, to each other rank
at::Tensor gather_width(const WidthShard& shard, Collectives& collectives);

/// num_channels of 0 or less allows any number of channels.
/// Errors    ContractError that names `where`: not one width per rank, or columns not [B, C, H, widths[rank]]
void check_shard(const WidthShard& shard, std::int64_t num_channels, int rank, int size, const char* where);

}  // namespace lab::vae
