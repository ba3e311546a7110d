#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/comm/collectives.h"

namespace lab::vae {

/// A picture that is split along its width: this rank's columns, and how many each rank has. The widths travel with the
/// tensor because layers change them: 2 1 1 1 becomes 4 2 2 2 in an Upsample. A rank may have none.
struct WidthShard {
  at::Tensor columns;                ///< [B, C, H, widths[rank]]
  std::vector<std::int64_t> widths;  ///< of each rank, in rank order

  /// Of the whole picture.
  std::int64_t total_width() const;
};

/// This rank's part of a picture that every rank has: as even as possible, the first ranks take one column more.
/// Call      local
/// Aliasing  columns is new, channels last in memory
/// Errors    ContractError: not four dimensions; fewer columns than ranks
/// Example   width 5 on 4 ranks: 2 1 1 1
WidthShard split_width(const at::Tensor& picture, int rank, int size);

/// The whole picture on every rank.
/// Call      collective, blocking, no autograd
/// Cost      bytes of the own columns to each other rank
at::Tensor gather_width(const WidthShard& shard, Collectives& collectives);

/// Errors    ContractError, `where` named: not as many widths as ranks, or columns not [B, C, H, widths[rank]];
///           an expected number of channels of 0 or less allows any
void check_shard(const WidthShard& shard, std::int64_t num_channels, int rank, int size, const char* where);

}  // namespace lab::vae
