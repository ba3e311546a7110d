#pragma once

#include <algorithm>
#include <vector>

namespace lab {

/// The value in the middle; of an even number of them the upper one.
/// Requires  at least one
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace lab
