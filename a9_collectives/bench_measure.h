#pragma once

#include <functional>
#include <string>
#include <vector>

#include "a9_collectives/bench_rows.h"
#include "a9_collectives/catalogue.h"
#include "common/bench/gloo_peer.h"
#include "common/comm/communicator.h"

namespace lab::a9 {

/// What the benchmark measures at one size: every algorithm that `selects`, Gloo's built-in where there is one, in
/// turns so that all see the same machine.
struct BenchPoint {
  std::int64_t bytes = 0;  ///< as nccl-tests counts them; rounded down to whole elements per rank
  int turns = 11;          ///< blocks of each contender; the median counts
  bool selected_only = false;
};

/// Gloo's built-ins under both schedulings: as any program has them, and with that of this suite's ranks.
struct GlooPeers {
  GlooPeers(const std::string& folder, int rank, int size)
      : usual(folder, rank, size, GlooPeer::Scheduling::kUsual),
        batch(folder, rank, size, GlooPeer::Scheduling::kBatch) {}

  GlooPeer usual;
  GlooPeer batch;
};

/// Collective: every rank calls it. Rows are equal on all ranks.
std::vector<BenchRow> measure(const Collective& collective, const BenchPoint& point, Communicator& comm,
                              GlooPeers& gloo);

}  // namespace lab::a9
