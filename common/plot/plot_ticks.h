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

/// A closed interval.
struct Range {
  double low = 0;
  double high = 0;
};

/// The value at which an axis shows it: clamped to magnitudes of at most 1e300, and on a log axis to at least 1e-280,
/// so that no difference or ratio of two positions overflows.
/// Requires  a finite value; above zero where log
double shown_at(double value, bool log);

/// Whether two values are so close that an axis between them would show only rounding errors.
bool too_close(double low, double high, bool log);

/// The range, widened about its middle until positions in it differ by more than rounding.
/// Requires  finite ends in any order; above zero where log
Range drawable(Range range, bool log);

struct Tick {
  double at = 0;
  std::string label;
};

/// Round values inside the drawable range, at most ten: on a log axis powers of ten (with 2 and 5 between where those
/// are few), or of two for bytes; else multiples of 1, 2 or 5 times a power of ten, or of a power of two for bytes.
/// Requires  as drawable
std::vector<Tick> ticks(Range range, bool log, Unit unit);

}  // namespace lab::plot
