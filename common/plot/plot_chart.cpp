#include "common/plot/plot_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/errors.h"
#include "common/plot/plot_script.h"

namespace lab::plot {
namespace {

constexpr double kMarkerPx = 12;
constexpr double kMarkerHeight = 18;
constexpr double kSampleWidth = 48;  ///< of the line next to a name in the legend, with its gaps

bool shows(const ChartAxis& axis, double value) {
  return std::isfinite(value) && (!axis.log || value > 0);
}

void check(const Chart& chart) {
  check_size(chart.width_px, chart.height_px);
  for (const Series& series : chart.series) {
    if (series.x.size() == series.y.size()) continue;
    throw ContractError(fmt::format("chart '{}': the series '{}' has {} x and {} y; expected the same number of both",
                                    chart.title, series.name, series.x.size(), series.y.size()));
  }
  for (const ChartAxis* axis : {&chart.x, &chart.y}) {
    if (!axis->range) continue;
    const auto [low, high] = *axis->range;
    if (shows(*axis, low) && shows(*axis, high) && low < high) continue;
    throw UsageError(
        fmt::format("chart '{}': the axis '{}' cannot run from {:g} to {:g}", chart.title, axis->label, low, high));
  }
}

/// From the smallest to the largest value that is shown.
Range data_range(const Chart& chart, std::vector<double> Series::*values, bool log) {
  Range found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shows(chart.x, series.x[i]) || !shows(chart.y, series.y[i])) continue;
      const double value = shown_at((series.*values)[i], log);
      found = {std::min(found.low, value), std::max(found.high, value)};
    }
  }
  if (found.low <= found.high) return found;
  throw UsageError(fmt::format("chart '{}': there is no point to draw; expected at least one finite value{}",
                               chart.title, chart.x.log || chart.y.log ? ", above zero on a log axis" : ""));
}

/// A little wider than the data, so that no point lies on the edge. Values that differ by rounding only are one value:
/// magnified, they would look like a curve.
Range padded(Range data, bool log, double share) {
  const bool one_value = too_close(data.low, data.high, log);
  if (log) {
    const double factor = one_value ? 2 : std::exp(share * (std::log(data.high) - std::log(data.low)));
    return {data.low / factor, data.high * factor};
  }
  if (!one_value) {
    const double pad = share * (data.high - data.low);
    // Non-negative values that come near zero are best shown from zero.
    const bool from_zero = data.low >= 0 && data.low < 0.5 * data.high;
    return {from_zero ? 0 : data.low - pad, data.high + pad};
  }
  const double pad = data.low == 0 ? 1 : std::abs(data.low) / 2;
  return {data.low - pad, data.high + pad};
}

Range axis_range(const ChartAxis& axis, Range data, double share) {
  return drawable(axis.range.value_or(padded(data, axis.log, share)), axis.log);
}

double place_in(Range range, bool log, double value) {
  return log ? (std::log(value) - std::log(range.low)) / (std::log(range.high) - std::log(range.low))
             : (value - range.low) / (range.high - range.low);
}

struct PlacedMarker {
  Marker marker;
  double share = 0;  ///< of the drawing's width, from the left
  int level = 0;     ///< lines of labels below this one
};

/// Labels that would overlap are put on different levels.
std::vector<PlacedMarker> placed_markers(const Chart& chart, Range x_range, double inner_width) {
  std::vector<PlacedMarker> placed;
  for (const Marker& marker : chart.markers) {
    if (!shows(chart.x, marker.x) || marker.x < x_range.low || marker.x > x_range.high) continue;
    placed.push_back({marker, place_in(x_range, chart.x.log, marker.x), 0});
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const PlacedMarker& a, const PlacedMarker& b) { return a.share < b.share; });
  std::vector<double> ends;  // of the last label on each level, px
  for (PlacedMarker& marker : placed) {
    const double half = text_width(marker.marker.label, kMarkerPx) / 2 + 4;
    const double centre = marker.share * inner_width;
    const auto free = std::find_if(ends.begin(), ends.end(), [&](double end) { return end <= centre - half; });
    marker.level = static_cast<int>(free - ends.begin());
    if (free == ends.end()) ends.push_back(0);
    ends[static_cast<std::size_t>(marker.level)] = centre + half;
  }
  return placed;
}

std::string axis_script(const std::string& which, const ChartAxis& axis, Range range) {
  const std::string log = axis.log ? fmt::format("set logscale {}\n", which) : "";
  return fmt::format("{}set {}range [{:.17g}:{:.17g}]\n", log, which, range.low, range.high);
}

std::string legend_script(const Chart& chart, const Frame& frame) {
  const std::string look =
      fmt::format("left reverse Left samplen 2.5 spacing 1.35 font ',{:g}' textcolor rgb 'black'", kTickPx);
  switch (chart.legend) {
    case LegendPlace::kNone: return "";
    case LegendPlace::kRight:
      return fmt::format("set key at {}, {} top {}\n", frame.screen_x(frame.width - frame.right + 10),
                         frame.screen_y(frame.top - 4), look);
    case LegendPlace::kTopLeft: return fmt::format("set key inside top opaque {}\n", look);
    case LegendPlace::kBottomLeft: return fmt::format("set key inside bottom opaque {}\n", look);
    case LegendPlace::kTopRight: return fmt::format("set key inside top opaque {} right\n", look);
    case LegendPlace::kBottomRight: return fmt::format("set key inside bottom opaque {} right\n", look);
  }
  return "";
}

/// The shown pairs, one per line; an empty line is a gap.
std::string data_of(const Chart& chart, const Series& series) {
  std::string data;
  bool gap = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!shows(chart.x, series.x[i]) || !shows(chart.y, series.y[i])) {
      gap = !data.empty();  // two empty lines would start another data set
      continue;
    }
    data += fmt::format("{}{:.17g} {:.17g}\n", gap ? "\n" : "", shown_at(series.x[i], chart.x.log),
                        shown_at(series.y[i], chart.y.log));
    gap = false;
  }
  return data;
}

std::string curves_script(const Chart& chart) {
  static constexpr int kPointTypes[] = {7, 5, 9, 13, 11, 15, 6, 4, 8, 12};  // filled ones first
  std::string blocks;
  std::string curves;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const std::string data = data_of(chart, series);
    const Colour colour_of_series = series.colour.value_or(colour(static_cast<int>(i)));
    const char* with = !series.points ? "lines" : series.line ? "linespoints" : "points";
    std::string style = fmt::format("with {} linecolor rgb {}", with, quoted(colour_of_series));
    if (series.line || !series.points) style += fmt::format(" linewidth 2 dashtype {}", series.dashed ? "(7,4)" : "1");
    if (series.points) style += fmt::format(" pointtype {}", kPointTypes[i % std::size(kPointTypes)]);
    if (!data.empty()) blocks += fmt::format("$series{} << END\n{}END\n", i, data);
    const std::string what = data.empty() ? "keyentry" : fmt::format("$series{} using 1:2", i);
    const std::string name = series.name.empty() ? "notitle" : "title " + plot::quoted(series.name);
    curves += fmt::format("{}{} {} {}", curves.empty() ? "" : ", \\\n  ", what, style, name);
  }
  return blocks + "plot " + curves + '\n';
}

double legend_width(const Chart& chart) {
  double widest = 0;
  for (const Series& series : chart.series) {
    if (!series.name.empty()) widest = std::max(widest, kSampleWidth + text_width(series.name, kTickPx));
  }
  return chart.legend == LegendPlace::kRight ? widest : 0;
}

/// Says that an axis is logarithmic, which a few ticks alone do not show.
std::string label_of(const ChartAxis& axis) {
  return axis.log && !axis.label.empty() ? axis.label + " (log scale)" : axis.label;
}

}  // namespace

std::string chart_script(const Chart& chart) {
  check(chart);
  const Range x_data = data_range(chart, &Series::x, chart.x.log);
  const Range y_data = data_range(chart, &Series::y, chart.y.log);
  const Range x_range = axis_range(chart.x, x_data, 0.02);
  const Range y_range = axis_range(chart.y, y_data, 0.05);
  const std::vector<Tick> x_ticks = ticks(x_range, chart.x.log, chart.x.unit);
  const std::vector<Tick> y_ticks = ticks(y_range, chart.y.log, chart.y.unit);

  Frame frame{chart.width_px, chart.height_px};
  const double y_label_room = chart.y.label.empty() ? 0 : 26;
  frame.left = 24 + y_label_room + ticks_width(y_ticks);
  frame.right = std::min(std::max(24.0, legend_width(chart) + 16), 0.45 * frame.width);
  frame.bottom = 38 + (chart.x.label.empty() ? 0 : 28);
  const std::vector<PlacedMarker> markers = placed_markers(chart, x_range, frame.inner_width());
  int num_levels = 0;
  for (const PlacedMarker& marker : markers) num_levels = std::max(num_levels, marker.level + 1);
  const double title_room = chart.title.empty() ? 0 : kTitlePx * 1.7;
  frame.top = 14 + title_room + num_levels * kMarkerHeight;

  std::string script = frame_script(frame);
  script +=
      "set border 3 back linecolor rgb '#555555' linewidth 1\n"
      "set grid back linetype 1 linecolor rgb '#E2E2E2' linewidth 0.7\n";
  script += axis_script("x", chart.x, x_range) + ticks_script(frame, Side::kBottom, x_ticks, x_range);
  script += axis_script("y", chart.y, y_range) + ticks_script(frame, Side::kLeft, y_ticks, y_range);
  script += legend_script(chart, frame);

  const double whole_width = 0.94 * frame.width;
  script += label_script(frame, {"screen 0.5", frame.screen_y(10 + title_room / 2), chart.title,
                                 fitted_px(chart.title, kTitlePx, whole_width)});
  script += label_script(frame, {"graph 0.5", frame.screen_y(frame.height - 16), label_of(chart.x),
                                 fitted_px(label_of(chart.x), kLabelPx, frame.inner_width())});
  Label y_label{frame.screen_x(16), "graph 0.5", label_of(chart.y),
                fitted_px(label_of(chart.y), kLabelPx, frame.inner_height())};
  y_label.upward = true;
  script += label_script(frame, y_label);

  for (const PlacedMarker& marker : markers) {
    script += fmt::format(
        "set arrow from {0:.17g}, graph 0 to {0:.17g}, {1} nohead back "
        "linecolor rgb '#808080' linewidth 1 dashtype 2\n",
        marker.marker.x, frame.screen_y(frame.top - 4 - marker.level * kMarkerHeight));
    Label label{fmt::format("first {:.17g}", marker.marker.x),
                frame.screen_y(frame.top - 10 - marker.level * kMarkerHeight), marker.marker.label, kMarkerPx};
    label.colour = {0x444444};
    label.halo = true;
    script += label_script(frame, label);
  }
  return script + curves_script(chart);
}

}  // namespace lab::plot
