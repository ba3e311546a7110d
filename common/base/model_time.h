#pragma once

#include <cstdint>

namespace lab {

/// Where one rank's model time went, in picoseconds: kept by the communication layer (comm/model_time.md), carried by
/// reports. total = work + waiting + overhead.
struct ModelTime {
  std::int64_t total = 0;
  std::int64_t work = 0;      ///< floating-point operations
  std::int64_t waiting = 0;   ///< for messages to arrive; in built-in collectives, for the other members and the data
  std::int64_t overhead = 0;  ///< of posting sends and taking receives
};

inline bool operator==(const ModelTime& a, const ModelTime& b) {
  return a.total == b.total && a.work == b.work && a.waiting == b.waiting && a.overhead == b.overhead;
}

}  // namespace lab
