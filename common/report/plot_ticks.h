#pragma once

#include <string>
#include <vector>

namespace lab::plot {

/// How the numbers along an axis are written.
enum class Unit {
  kPlain,    ///< 0.5   20   1e6
  kBytes,    ///< in bytes: 1 KiB   4 KiB   1 MiB
  kSeconds,  ///< in seconds: 10 µs   1 ms   2 s
};

/// Both ends belong to it.
struct Range {
  double low = 0;
  double high = 0;
};

struct Tick {
  double at = 0;
  std::string label;
};

/// Round places inside the range, at most nine: on a log axis powers of ten (with 2 and 5 between where those are few),
/// or of two for bytes; else multiples of 1, 2 or 5 times a power of ten, or of a power of two for bytes.
/// Requires  low < high, both finite; low > 0 where log
std::vector<Tick> ticks(Range range, bool log, Unit unit);

}  // namespace lab::plot
