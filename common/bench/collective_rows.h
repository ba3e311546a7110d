#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/json.h"

// The table of `bench_collectives`: how long each collective takes at each size, by us and by others.
namespace lab {

/// What no collective of processes can do without: each rank writes the bytes that it must get once. It has a row at
/// each size, by which the copies' part in all others can be read off.
constexpr const char* kCopies = "copies alone";
constexpr const char* kOurs = "collectives";

/// One line: one collective of one contender at one size.
struct CollectiveRow {
  std::string collective;
  std::string contender;  ///< kOurs; or a peer: "gloo", "mpi tcp", "mpi shared memory", "python"; or kCopies
  std::string transport;  ///< of ours: "gloo", "shm", "auto"; empty: a peer
  std::int64_t bytes = 0;
  int ranks = 0;
  double min_seconds = 0, median_seconds = 0, max_seconds = 0;  ///< of one call among several, one after the other
  double context_switches = 0;  ///< in one call among several, on the rank that has most: the median
  double alone_seconds = 0;     ///< of one call alone, after a barrier, until its last rank has returned: the median
  double bus_factor = 1;        ///< busbw over algbw, as in nccl-tests
  std::int64_t wrong = 0;       ///< elements that differ from the exact result, over all ranks

  bool is_ours() const { return contender == kOurs; }
  double algbw() const { return static_cast<double>(bytes) / median_seconds / 1e9; }  ///< GB/s
  double busbw() const { return algbw() * bus_factor; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CollectiveRow, collective, contender, transport, bytes, ranks, min_seconds,
                                   median_seconds, max_seconds, context_switches, alone_seconds, bus_factor, wrong)

/// broadcast, allreduce, allgather, reduce_scatter, all_to_all.
const std::vector<std::string>& collective_names();

/// Bus bandwidth over algorithm bandwidth, as in nccl-tests.
double bus_factor(const std::string& collective, int num_ranks);

/// The bytes that a rank must get from others in one call, if all share the work evenly: a broadcast's source none.
std::int64_t bytes_to_get(const std::string& collective, std::int64_t bytes, int rank, int size);

/// Sizes of a summary, both ends included. A size that was rounded down to whole elements per rank counts as the
/// size before rounding.
struct SizeBand {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
};

/// A line for each peer and band of sizes with a cell, a collective at a size: the geometric mean of our time by the
/// peer's, and the worst cell. One for each peer's broadcast of one call alone: behind each other, calls hide how late
/// the last rank is.
std::vector<std::string> summary_lines(const std::vector<CollectiveRow>& rows);

std::string collective_header();
std::string collective_line(const CollectiveRow& row);
/// What `--json` writes: of each row also algbw and busbw, in place of their ratio.
std::string collective_json(const std::vector<CollectiveRow>& rows);

}  // namespace lab
