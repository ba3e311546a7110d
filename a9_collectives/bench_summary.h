#pragma once

#include <string>
#include <vector>

#include "a9_collectives/bench_rows.h"

namespace lab::a9 {

/// Sizes of a summary, both ends included. A size that was rounded down to whole elements per rank counts as what it
/// was before.
struct SizeBand {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
};

/// How the selected algorithms do against one peer.
struct RatioSummary {
  int num_cells = 0;  ///< collective and size
  double geometric_mean = 0;
  BenchRow worst;
};

/// Over the selected rows in the band whose ratio is known.
RatioSummary summarise(const std::vector<BenchRow>& rows, double BenchRow::*ratio, const SizeBand& band);

/// A line per peer and band that have a cell: Gloo at all sizes; Open MPI over TCP from 256 KiB to 4 MiB and at 64 MiB.
std::vector<std::string> summary_lines(const std::vector<BenchRow>& rows);

}  // namespace lab::a9
