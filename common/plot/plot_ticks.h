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

/// The value where an axis shows it: magnitudes beyond 1e300, and on a log axis below 1e-280, are shown there, so that no
/// width or ratio of two places overflows.
/// Requires  a finite value; above zero where log
double shown_at(double value, bool log);

/// Whether two values are so close that an axis between them would show nothing but rounding.
bool too_close(double low, double high, bool log);

/// The range, widened about its middle until places in it differ by more than rounding.
/// Requires  finite ends in any order; above zero where log
Range drawable(Range range, bool log);

struct Tick {
  double at = 0;
  std::string label;
};

/// Round places inside the drawable range, at most ten: on a log axis powers of ten (with 2 and 5 between where those
/// are few), or of two for bytes; else multiples of 1, 2 or 5 times a power of ten, or of a power of two for bytes.
/// Requires  as drawable
std::vector<Tick> ticks(Range range, bool log, Unit unit);

}  // namespace lab::plot
