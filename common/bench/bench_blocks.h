#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cli/app.h"

// What a benchmark of collectives and its peers in other processes must agree on.
namespace lab {

/// Calls per block: enough for the clock, few enough for large messages.
inline int calls_per_block(std::int64_t bytes) {
  return static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 21) / std::max<std::int64_t>(bytes, 1), 1, 40));
}

/// Which of `num` contenders has this place in this turn: all are measured in each, and each turn begins with the next.
inline std::size_t rotated(int turn, std::size_t place, std::size_t num) {
  return (static_cast<std::size_t>(turn) + place) % num;
}

/// The size rounded down to whole float32 elements per rank, at least one each.
/// Example   4096 bytes, 3 ranks: 4092
inline std::int64_t whole_bytes(std::int64_t bytes, int num_ranks) {
  return std::max<std::int64_t>(bytes / 4 / num_ranks, 1) * num_ranks * 4;
}

struct SizeSteps {
  std::int64_t min_bytes = 1 << 10;
  std::int64_t max_bytes = 64 << 20;
  int factor = 4;
};

/// --min-bytes, --max-bytes and --factor.
void add_steps(cli::App& app, SizeSteps& steps);

/// Errors    UsageError: the sizes are in the wrong order
void check_steps(const SizeSteps& steps);

/// min, min * factor, ... up to max, each rounded by whole_bytes and listed once.
inline std::vector<std::int64_t> bench_sizes(const SizeSteps& steps, int num_ranks) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = steps.min_bytes; bytes <= steps.max_bytes; bytes *= steps.factor) {
    const std::int64_t whole = whole_bytes(bytes, num_ranks);
    if (sizes.empty() || sizes.back() != whole) sizes.push_back(whole);
  }
  return sizes;
}

}  // namespace lab
