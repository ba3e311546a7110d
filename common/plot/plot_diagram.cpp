#include "common/plot/plot_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/plot/plot_diagram_legend.h"
#include "common/plot/plot_label_places.h"
#include "common/plot/plot_script.h"

namespace lab::plot {
namespace {

/// Where a diagram's drawing area lies in the picture, and what it shows.
struct DiagramLayout {
  Frame frame;
  Range x;  ///< across the drawing area, in the diagram's coordinates
  Range y;
  LegendRows legend_rows;
};

struct Extent {
  Range x{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Range y = x;
};

void include(const Diagram& diagram, double x, double y, Extent& extent) {
  // Lengths are computed from differences, which must not overflow either.
  const auto can_be_drawn = [](double at) { return std::isfinite(at) && at == shown_at(at, false); };
  if (!can_be_drawn(x) || !can_be_drawn(y)) {
    throw UsageError(
        fmt::format("diagram '{}': cannot draw at ({:g}, {:g}); expected finite coordinates of at most 1e300",
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

constexpr double kTopTicksRoom = 26, kTopTitleRoom = 22;

/// Errors    UsageError: as diagram_script
DiagramLayout layout_of(const Diagram& diagram) {
  check_size(diagram.width_px, diagram.height_px);
  DiagramLayout layout;
  const Extent extent = content_of(diagram);
  layout.x = range_of(diagram, diagram.x, extent.x);
  layout.y = range_of(diagram, diagram.y, extent.y);
  layout.legend_rows = legend_rows(diagram.legend, diagram.width_px);
  const double title_room = diagram.title.empty() ? 0 : kTitlePx * kLineHeight * num_lines(diagram.title) + 8;
  const double x_ticks_room = diagram.x.ticks.empty() ? 0 : 26;
  Frame& frame = layout.frame;
  frame.width = diagram.width_px;
  frame.height = diagram.height_px;
  frame.left =
      14 + (diagram.y.title.empty() ? 0 : 26) + (diagram.y.ticks.empty() ? 0 : 14 + ticks_width(diagram.y.ticks));
  frame.right = 18;
  frame.top = 10 + title_room + (diagram.x_ticks_on_top ? x_ticks_room : 0) +
              (diagram.x_top.ticks.empty() ? 0 : kTopTicksRoom) + (diagram.x_top.title.empty() ? 0 : kTopTitleRoom);
  frame.bottom = 14 + (diagram.x_ticks_on_top ? 0 : x_ticks_room) + (diagram.x.title.empty() ? 0 : 24) +
                 kLegendRowHeight * static_cast<double>(layout.legend_rows.size());
  return layout;
}

constexpr double kLeastReadablePx = 6;

std::string first(double place) {
  return fmt::format("first {:.17g}", place);
}

double width_of(const Box& box, const DiagramLayout& layout) {
  return std::abs(box.x1 - box.x0) / (layout.x.high - layout.x.low) * layout.frame.inner_width();
}

double height_of(const Box& box, const DiagramLayout& layout) {
  return std::abs(box.y1 - box.y0) / (layout.y.high - layout.y.low) * layout.frame.inner_height();
}

std::string box_texts(const Diagram& diagram, const DiagramLayout& layout) {
  std::string script;
  // Boxes of the same size (to a px) get text of the same size: the largest that fits them all.
  using Size = std::pair<long, long>;
  const auto size_of = [&](const Box& box) {
    return Size{std::lround(width_of(box, layout)), std::lround(height_of(box, layout))};
  };
  const auto fitting_px = [&](const Box& box) {
    return std::min(fitted_px(box.text, kTickPx, 0.94 * width_of(box, layout)),
                    0.9 * height_of(box, layout) / (kLineHeight * num_lines(box.text)));
  };
  std::map<Size, double> px_of_size;
  for (const Box& box : diagram.boxes) {
    const double px = fitting_px(box);
    if (box.text.empty() || box.text_px != 0 || px < kLeastReadablePx) continue;
    double& least = px_of_size.try_emplace(size_of(box), px).first->second;
    least = std::min(least, px);
  }
  for (const Box& box : diagram.boxes) {
    if (box.text.empty() || (box.text_px == 0 && fitting_px(box) < kLeastReadablePx)) continue;
    Label label{first((box.x0 + box.x1) / 2), first((box.y0 + box.y1) / 2), box.text,
                box.text_px != 0 ? box.text_px : px_of_size.at(size_of(box))};
    label.colour = text_colour_on(box.fill);
    script += label_script(layout.frame, label);
  }
  return script;
}

std::string arrow_labels(const Diagram& diagram, const DiagramLayout& layout) {
  std::string script;
  const double px_per_x = layout.frame.inner_width() / (layout.x.high - layout.x.low);
  const double px_per_y = layout.frame.inner_height() / (layout.y.high - layout.y.low);
  std::vector<LabelledArrow> in_px;
  for (const Arrow& arrow : diagram.arrows) {
    LabelledArrow& added = in_px.emplace_back();
    added = {arrow.x0 * px_per_x, arrow.y0 * px_per_y, arrow.x1 * px_per_x, arrow.y1 * px_per_y};
    if (arrow.label.empty()) continue;
    added.width = text_width(arrow.label, arrow.label_px);
    added.height = kLineHeight * arrow.label_px * num_lines(arrow.label);
  }
  // Labels avoid the columns' lines as well.
  for (const Guide& guide : diagram.vertical_guides) {
    const Range span = guide.span.value_or(layout.y);
    in_px.push_back({guide.at * px_per_x, span.low * px_per_y, guide.at * px_per_x, span.high * px_per_y});
  }
  const std::vector<double> places = label_places(in_px);
  for (std::size_t i = 0; i < diagram.arrows.size(); ++i) {
    const Arrow& arrow = diagram.arrows[i];
    const double at = arrow.label_at.value_or(places[i]);
    Label label{first(arrow.x0 + at * (arrow.x1 - arrow.x0)), first(arrow.y0 + at * (arrow.y1 - arrow.y0)), arrow.label,
                arrow.label_px};
    label.colour = arrow.colour;
    label.halo = true;
    script += label_script(layout.frame, label);
  }
  return script;
}

/// The text of boxes, arrows and labels, sized to fit and placed where it can be read.
std::string labels_script(const Diagram& diagram, const DiagramLayout& layout) {
  std::string script = box_texts(diagram, layout) + arrow_labels(diagram, layout);
  for (const Text& text : diagram.texts) {
    Label label{first(text.x), first(text.y), text.text, text.px, text.align, text.colour};
    label.halo = text.halo;
    script += label_script(layout.frame, label);
  }
  return script;
}

std::string axes_script(const Diagram& diagram, const DiagramLayout& layout) {
  const auto [y_low, y_high] = diagram.y_down ? Range{layout.y.high, layout.y.low} : layout.y;
  std::string script =
      fmt::format("set xrange [{0:.17g}:{1:.17g}]\nset x2range [{0:.17g}:{1:.17g}]\nset yrange [{2:.17g}:{3:.17g}]\n",
                  layout.x.low, layout.x.high, y_low, y_high);
  const bool on_top = diagram.x_ticks_on_top;
  // Only the sides that have ticks; the headings of columns need no line.
  const int border = (diagram.x.ticks.empty() || on_top ? 0 : 1) + (diagram.y.ticks.empty() ? 0 : 2);
  script += border == 0 ? "unset border\n" : fmt::format("set border {} back linecolor rgb '#555555'\n", border);
  script += "unset xtics\nunset x2tics\n";
  script += ticks_script(layout.frame, on_top ? Side::kTop : Side::kBottom, diagram.x.ticks, layout.x);
  script += ticks_script(layout.frame, Side::kTop, diagram.x_top.ticks, layout.x);
  script += ticks_script(layout.frame, Side::kLeft, diagram.y.ticks, layout.y);
  return script;
}

std::string titles_script(const Diagram& diagram, const DiagramLayout& layout) {
  const Frame& frame = layout.frame;
  const double title_middle = 10 + kTitlePx * kLineHeight * num_lines(diagram.title) / 2;
  std::string script = label_script(frame, {"screen 0.5", frame.screen_y(title_middle), diagram.title,
                                            fitted_px(diagram.title, kTitlePx, 0.94 * frame.width)});
  const double x_title_y = frame.height - 16 - kLegendRowHeight * static_cast<double>(layout.legend_rows.size());
  script += label_script(frame, {"graph 0.5", frame.screen_y(x_title_y), diagram.x.title,
                                 fitted_px(diagram.x.title, kLabelPx, frame.inner_width())});
  script += label_script(frame, {"graph 0.5", frame.screen_y(frame.top - kTopTicksRoom - kTopTitleRoom / 2),
                                 diagram.x_top.title, fitted_px(diagram.x_top.title, kLabelPx, frame.inner_width())});
  Label y_title{frame.screen_x(16), "graph 0.5", diagram.y.title,
                fitted_px(diagram.y.title, kLabelPx, frame.inner_height())};
  y_title.upward = true;
  script += label_script(frame, y_title);
  return script;
}

/// Data blocks and the plot command that draws them, the first one at the back.
class Plot {
 public:
  /// Adds `rows` in a style; nothing if empty.
  void add(const std::string& rows, const std::string& style);
  std::string script() const { return data_ + "plot " + (elements_.empty() ? "NaN notitle" : elements_) + '\n'; }

 private:
  std::string data_;
  std::string elements_;
  int num_blocks_ = 0;
};

void Plot::add(const std::string& rows, const std::string& style) {
  if (rows.empty()) return;
  data_ += fmt::format("$data{} << END\n{}END\n", num_blocks_, rows);
  elements_ += fmt::format("{}$data{} {} notitle", elements_.empty() ? "" : ", \\\n  ", num_blocks_, style);
  ++num_blocks_;
}

void add_guides(const Diagram& diagram, const DiagramLayout& layout, Plot& plot) {
  for (const bool dashed : {false, true}) {
    std::string rows;
    const auto row = [&](const Guide& guide, double x, double y, double dx, double dy) {
      if (guide.dashed != dashed) return;
      rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {}\n", x, y, dx, dy, guide.colour.rgb);
    };
    for (const Guide& guide : diagram.vertical_guides) {
      const Range span = guide.span.value_or(layout.y);
      row(guide, guide.at, span.low, 0, span.high - span.low);
    }
    for (const Guide& guide : diagram.horizontal_guides) {
      const Range span = guide.span.value_or(layout.x);
      row(guide, span.low, guide.at, span.high - span.low, 0);
    }
    plot.add(rows, fmt::format("using 1:2:3:4:5 with vectors nohead linecolor rgb variable linewidth 1.2 dashtype {}",
                               dashed ? 2 : 1));
  }
}

void add_arrows(const Diagram& diagram, const DiagramLayout& layout, bool dashed, bool head, Plot& plot) {
  std::string rows;
  for (const Arrow& arrow : diagram.arrows) {
    if (arrow.dashed != dashed || arrow.head != head) continue;
    rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {}\n", arrow.x0, arrow.y0, arrow.x1 - arrow.x0,
                        arrow.y1 - arrow.y0, arrow.colour.rgb);
  }
  const std::string end =
      head ? fmt::format("head filled size screen {:.5f},18 fixed", 12.0 / layout.frame.width) : "nohead";
  plot.add(rows, fmt::format("using 1:2:3:4:5 with vectors {} linecolor rgb variable linewidth 1.6 dashtype {}", end,
                             dashed ? 2 : 1));
}

void add_boxes(const Diagram& diagram, Plot& plot) {
  std::string rows;
  for (const Box& box : diagram.boxes) {
    rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {}\n", (box.x0 + box.x1) / 2,
                        (box.y0 + box.y1) / 2, std::min(box.x0, box.x1), std::max(box.x0, box.x1),
                        std::min(box.y0, box.y1), std::max(box.y0, box.y1), box.fill.rgb);
  }
  plot.add(rows,
           "using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 border linecolor rgb '#555555' fillcolor rgb "
           "variable linewidth 0.7");
}

}  // namespace

std::string diagram_script(const Diagram& diagram) {
  const DiagramLayout layout = layout_of(diagram);
  Plot plot;
  add_guides(diagram, layout, plot);
  add_boxes(diagram, plot);
  for (const bool dashed : {false, true}) {
    for (const bool head : {false, true}) add_arrows(diagram, layout, dashed, head, plot);
  }
  return frame_script(layout.frame) + axes_script(diagram, layout) + titles_script(diagram, layout) +
         legend_script(layout.frame, layout.legend_rows) + labels_script(diagram, layout) + plot.script();
}

}  // namespace lab::plot
