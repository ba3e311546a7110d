#include "common/plot/plot_diagram_legend.h"

#include <fmt/format.h>

namespace lab::plot {
namespace {

constexpr double kSquare = 12;

/// With the gap to the next entry.
double width_of(const LegendEntry& entry) {
  return kSquare + 26 + text_width(entry.text, kTickPx);
}

}  // namespace

LegendRows legend_rows(const std::vector<LegendEntry>& entries, int width_px) {
  LegendRows rows;
  double used = 0;
  for (const LegendEntry& entry : entries) {
    const double width = width_of(entry);
    if (rows.empty() || used + width > 0.94 * width_px) {
      rows.emplace_back();
      used = 0;
    }
    rows.back().push_back(entry);
    used += width;
  }
  return rows;
}

std::string legend_script(const Frame& frame, const LegendRows& rows) {
  std::string script;
  double y = frame.height - 14 - kLegendRowHeight * (static_cast<double>(rows.size()) - 1);
  for (const auto& row : rows) {
    double width = 0;
    for (const LegendEntry& entry : row) width += width_of(entry);
    double x = (frame.width - width + 20) / 2;
    for (const LegendEntry& entry : row) {
      script += fmt::format(
          "set object rectangle from {}, {} to {}, {} front fillcolor rgb {} fillstyle solid border "
          "linecolor rgb '#555555' linewidth 0.7\n",
          frame.screen_x(x), frame.screen_y(y - kSquare / 2), frame.screen_x(x + kSquare),
          frame.screen_y(y + kSquare / 2), quoted(entry.fill));
      script +=
          label_script(frame, {frame.screen_x(x + kSquare + 6), frame.screen_y(y), entry.text, kTickPx, Align::kLeft});
      x += width_of(entry);
    }
    y += kLegendRowHeight;
  }
  return script;
}

}  // namespace lab::plot
