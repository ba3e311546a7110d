#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"

namespace lab::optc {

/// The collectives of a piece of work, each by its number of values: of an all-gather, of all ranks' together.
struct Traffic {
  std::vector<std::int64_t> all_reduces;
  std::vector<std::int64_t> all_gathers;
};

/// What one kind of work needs and then another.
Traffic operator+(Traffic first, const Traffic& second);

/// Bounds of a task that sends these collectives of float64 values, on each of `size` ranks, and nothing else: neither
/// more calls and bytes, nor, in all, fewer.
std::vector<CostBound> exactly(const std::string& task, const Traffic& traffic, int size);

/// The same without the lower bounds.
std::vector<CostBound> at_most(const std::string& task, const Traffic& traffic, int size);

}  // namespace lab::optc
