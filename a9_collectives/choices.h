#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lab::a9 {

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

/// A line of a table that was measured: on num_ranks ranks this algorithm is the quickest, up to max_bytes.
struct Choice {
  int num_ranks;
  std::int64_t max_bytes;
  const char* algorithm;
};

/// The algorithm that a table names. The lines of one number of ranks follow each other, sizes rising, the last kAnySize.
/// Of a number of ranks that was not measured, the lines of the next smaller one of its kind count (a power of two, or
/// not), or else of the smallest. Beyond the largest, they count at the same bytes per rank: an algorithm with a step
/// for each rank has that many more of them to pay for.
/// Errors    ContractError: no line fits
/// Example   quickest({{4, 64 * kKiB, "recursive_doubling"}, {4, kAnySize, "ring"}}, 1 * kMiB, 64): "recursive_doubling"
std::string quickest(const std::vector<Choice>& table, std::int64_t num_bytes, int num_ranks);

}  // namespace lab::a9
