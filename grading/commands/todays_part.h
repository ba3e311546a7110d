#pragma once

#include <chrono>
#include <cstddef>

namespace lab::grading {

/// Whether an item of a list, by its index, is in the part of today (UTC): every N-th, and after N days all. One day: all.
inline bool is_todays(std::size_t index, int num_days) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now().time_since_epoch());
  return (index + static_cast<std::size_t>(hours.count() / 24)) % static_cast<std::size_t>(num_days) == 0;
}

}  // namespace lab::grading
