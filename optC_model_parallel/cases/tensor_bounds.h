#pragma once

#include <c10/core/ScalarType.h>

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

/// Bounds of a task that runs these collectives on each of `size` ranks, and nothing else: no more calls and bytes; the
/// last one is of all together. At least, if `exactly`, as many bytes must arrive; otherwise every value of the largest
/// of them. A sum may be an all-reduce, or a reduce-scatter and an all-gather of values that the ranks divide; in
/// bfloat16 it may be of float32.
std::vector<CostBound> tensor_bounds(const std::string& task, const Traffic& traffic, int size, at::ScalarType dtype,
                                     bool exactly);

/// Bounds of a pipeline, whose messages count under its task: no collective but the call's own all-reduces, in float64.
std::vector<CostBound> messages_and_sums(const std::vector<std::int64_t>& num_values, int size);

/// Bounds of a task that may compute the sums in `traffic` in any way that a textbook has: as all-reduces or halves of
/// them, by gathering the terms, or by gathering and summing up the `num_hidden` values that ranks could keep to
/// themselves; each twice. At least, every value of the largest sum must arrive. No broadcast, no message.
std::vector<CostBound> generously(const std::string& task, const Traffic& traffic, std::int64_t num_hidden, int size,
                                  at::ScalarType dtype = at::kDouble);

}  // namespace lab::optc
