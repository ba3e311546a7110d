#include "common/plot/plot_chart.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "common/api/errors.h"

namespace lab::plot {
namespace {

/// A gnuplot string: inside single quotes neither escapes nor `commands` are interpreted; a quote itself is doubled.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'') out += c;
    out += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return out + "'";
}

bool shows(const ChartAxis& axis, double value) {
  constexpr double kLeastOnLog = 1e-280, kMost = 1e300;  // beyond them gnuplot finds no range
  return std::abs(value) <= kMost && (!axis.log || value >= kLeastOnLog);
}

std::string axis_script(const std::string& which, const ChartAxis& axis) {
  const std::string label = axis.log && !axis.label.empty() ? axis.label + " (log scale)" : axis.label;
  std::string script = fmt::format("set {}label {}\n", which, quoted(label));
  if (axis.log) script += fmt::format("set logscale {} {}\n", which, axis.unit == Unit::kBytes ? 2 : 10);
  if (axis.unit == Unit::kBytes) script += fmt::format("set format {} '%.0b %BB'\n", which);
  if (axis.unit == Unit::kSeconds) script += fmt::format("set format {} '%.0s %cs'\n", which);
  return script;
}

/// Their labels are between the drawing and the title.
std::string markers_script(const Chart& chart) {
  std::string script;
  for (const Marker& marker : chart.markers) {
    if (!shows(chart.x, marker.x)) continue;
    script += fmt::format(
        "set arrow from {0:.17g}, graph 0 to {0:.17g}, graph 1 nohead dashtype 2 linecolor rgb '#808080'\n"
        "set label {1} at {0:.17g}, graph 1.01 rotate by 15\n",
        marker.x, quoted(marker.label));
  }
  return script.empty() ? "" : "set tmargin 6\nset title offset 0,3\n" + script;
}

/// One pair per line.
std::string make_data(const Chart& chart, const Series& series) {
  std::string data;
  for (std::size_t i = 0; i < series.x.size(); ++i)
    data += shows(chart.x, series.x[i]) && shows(chart.y, series.y[i])
                ? fmt::format("{:.17g} {:.17g}\n", series.x[i], series.y[i])
                : "NaN NaN\n";
  return data;
}

}  // namespace

std::string chart_script(const Chart& chart) {
  static constexpr int kPointTypes[] = {7, 5, 9, 13, 11, 15, 6, 4, 8, 12};  // filled ones first
  std::string blocks, curves;
  bool any_point = false;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.x.size() != series.y.size())
      throw ContractError(fmt::format("chart '{}': the series '{}' has {} x and {} y; expected the same number of both",
                                      chart.title, series.name, series.x.size(), series.y.size()));
    const std::string data = make_data(chart, series);
    any_point = any_point || data.find_first_not_of("Na \n") != std::string::npos;
    blocks += fmt::format("$series{} << END\n{}END\n", i, data);
    const char* with = !series.points ? "lines" : series.line ? "linespoints" : "points";
    curves += fmt::format("{} {} with {} linecolor rgb '#{:06X}' linewidth 2 pointtype {} dashtype {} title {}",
                          i == 0 ? "plot" : ", \\\n ", data.empty() ? "NaN" : fmt::format("$series{}", i), with,
                          series.colour.value_or(colour(static_cast<int>(i))).rgb,
                          kPointTypes[i % std::size(kPointTypes)], series.dashed ? "(7,4)" : "1", quoted(series.name));
  }
  if (!any_point)
    throw UsageError(fmt::format("chart '{}': there is no point to draw; expected at least one finite value{}",
                                 chart.title, chart.x.log || chart.y.log ? ", above zero on a log axis" : ""));
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size 960,600 noenhanced font 'sans-serif,14' background rgb 'white'\n"
      "set pointsize 0.7\nset border 3\nset tics nomirror out\nset grid linecolor rgb '#E2E2E2'\n"
      "set key outside right top Left reverse\nset title {}\n{}{}{}{}{}\n",
      quoted(chart.title), axis_script("x", chart.x), axis_script("y", chart.y), markers_script(chart), blocks, curves);
}

}  // namespace lab::plot
