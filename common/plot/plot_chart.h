#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot_colour.h"
#include "common/plot/plot_ticks.h"

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

struct ChartAxis {
  std::string label;
  bool log = false;
  Unit unit = Unit::kPlain;
  std::optional<Range> range = {};  ///< fitted to the data when empty
};

enum class LegendPlace { kRight, kTopLeft, kTopRight, kBottomLeft, kBottomRight, kNone };

/// Curves over one axis.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<Series> series;
  std::vector<Marker> markers;
  LegendPlace legend = LegendPlace::kRight;  ///< kRight: next to the drawing; the others in its corners
  int width_px = 960;
  int height_px = 600;
};

/// The commands that draw the chart on whatever terminal was set.
/// Errors    UsageError: no point can be shown, an invalid range or size; ContractError: a series whose x and y
///           differ in length
std::string chart_script(const Chart& chart);

}  // namespace lab::plot
