#include "common/report/plot_diagram_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/report/errors.h"

namespace lab::plot {
namespace {

struct Extent {
  Range x{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Range y = x;
};

void include(const Diagram& diagram, double x, double y, Extent& extent) {
  // Lengths are computed from differences, which must not overflow either.
  const auto can_be_drawn = [](double at) { return std::isfinite(at) && at == shown_at(at, false); };
  if (!can_be_drawn(x) || !can_be_drawn(y)) {
    throw UsageError(
        fmt::format("diagram '{}': ({:g}, {:g}) is no place to draw at; expected finite coordinates of at most 1e300",
                    diagram.title, x, y));
  }
  extent.x = {std::min(extent.x.low, x), std::max(extent.x.high, x)};
  extent.y = {std::min(extent.y.low, y), std::max(extent.y.high, y)};
}

Extent content_of(const Diagram& diagram) {
  Extent extent;
  for (const Box& box : diagram.boxes) {
    include(diagram, box.x0, box.y0, extent);
    include(diagram, box.x1, box.y1, extent);
  }
  for (const Arrow& arrow : diagram.arrows) {
    include(diagram, arrow.x0, arrow.y0, extent);
    include(diagram, arrow.x1, arrow.y1, extent);
  }
  for (const Text& text : diagram.texts) include(diagram, text.x, text.y, extent);
  if (extent.x.low <= extent.x.high) return extent;
  throw UsageError(
      fmt::format("diagram '{}': there is nothing to draw; expected a box, an arrow or a text", diagram.title));
}

Range range_of(const Diagram& diagram, const DiagramAxis& axis, Range content) {
  if (axis.range) {
    if (std::isfinite(axis.range->low) && std::isfinite(axis.range->high) && axis.range->low < axis.range->high) {
      return drawable(*axis.range, false);
    }
    throw UsageError(fmt::format("diagram '{}': an axis cannot run from {:g} to {:g}", diagram.title, axis.range->low,
                                 axis.range->high));
  }
  for (const Tick& tick : axis.ticks) content = {std::min(content.low, tick.at), std::max(content.high, tick.at)};
  const double margin = content.low < content.high ? 0.03 * (content.high - content.low) : 1;
  return drawable({content.low - margin, content.high + margin}, false);
}

}  // namespace

DiagramLayout layout_of(const Diagram& diagram) {
  check_size(diagram.width_px, diagram.height_px);
  DiagramLayout layout;
  const Extent extent = content_of(diagram);
  layout.x = range_of(diagram, diagram.x, extent.x);
  layout.y = range_of(diagram, diagram.y, extent.y);
  layout.legend_rows = legend_rows(diagram.legend, diagram.width_px);
  const double title_room = diagram.title.empty() ? 0 : kTitlePx * kLineHeight * lines_of(diagram.title).size() + 8;
  const double x_ticks_room = diagram.x.ticks.empty() ? 0 : 26;
  Frame& frame = layout.frame;
  frame.width = diagram.width_px;
  frame.height = diagram.height_px;
  frame.left =
      14 + (diagram.y.title.empty() ? 0 : 26) + (diagram.y.ticks.empty() ? 0 : 14 + ticks_width(diagram.y.ticks));
  frame.right = 18;
  frame.top = 10 + title_room + (diagram.x_ticks_on_top ? x_ticks_room : 0);
  frame.bottom = 14 + (diagram.x_ticks_on_top ? 0 : x_ticks_room) + (diagram.x.title.empty() ? 0 : 24) +
                 kLegendRowHeight * static_cast<double>(layout.legend_rows.size());
  return layout;
}

}  // namespace lab::plot
