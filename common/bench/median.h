#pragma once

#include <algorithm>
#include <vector>

namespace lab {

/// The middle value; for an even count the upper of the two.
/// Requires  at least one value
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace lab
