#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"

namespace lab::optc {

/// The collectives of a computation, each by its number of values; for an all-gather, those of all ranks together.
struct Traffic {
  std::vector<std::int64_t> all_reduces;
  std::vector<std::int64_t> all_gathers;
};

/// The traffic of both.
Traffic operator+(Traffic first, const Traffic& second);

/// Bounds of a task that runs these collectives on float64 values, on each of `size` ranks, and nothing else: no more
/// calls and bytes, and in total no fewer.
std::vector<CostBound> exactly(const std::string& task, const Traffic& traffic, int size);

/// The same without the lower bounds.
std::vector<CostBound> at_most(const std::string& task, const Traffic& traffic, int size);

}  // namespace lab::optc
