#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot_colour.h"

namespace lab::plot {

/// One curve. A pair that cannot be shown (NaN, infinite, not positive on a log axis) is a gap in it.
struct Series {
  std::string name;  ///< in the legend
  std::vector<double> x = {};
  std::vector<double> y = {};
  bool line = true;
  bool points = true;
  bool dashed = false;                ///< for example a model's prediction next to measurements
  std::optional<Colour> colour = {};  ///< colour(i) for the i-th series when empty
};

/// A dashed line across the drawing at x, its label above the drawing.
struct Marker {
  double x = 0;
  std::string label = "";
};

/// How the numbers along an axis are written.
enum class Unit {
  kPlain,    ///< 0.5   20   1e+06
  kBytes,    ///< in bytes: 1 KiB   4 KiB   1 MiB
  kSeconds,  ///< in seconds: 10 µs   1 ms   2 s
};

struct ChartAxis {
  std::string label;
  bool log = false;
  Unit unit = Unit::kPlain;
};

/// Curves over one axis.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<Series> series;
  std::vector<Marker> markers;
};

/// The gnuplot commands that draw the chart as SVG; nothing in a text is a command, a format or markup.
/// Errors    UsageError: no point can be shown; ContractError: a series whose x and y differ in length
std::string chart_script(const Chart& chart);

}  // namespace lab::plot
