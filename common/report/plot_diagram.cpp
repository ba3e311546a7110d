#include "common/report/plot_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "common/report/errors.h"
#include "common/report/plot_label_places.h"

namespace lab::plot {
namespace {

constexpr double kLeastReadablePx = 6;
constexpr double kLegendRowHeight = 22;
constexpr double kLegendSquare = 12;

std::string first(double place) {
  return fmt::format("first {:.17g}", place);
}

struct Extent {
  Range x{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Range y = x;
};

class Script {
 public:
  explicit Script(const Diagram& diagram) : diagram_(diagram) {}
  std::string text();

 private:
  void include(double x, double y, Extent& extent) const;
  Extent content() const;
  Range range_of(const DiagramAxis& axis, Range content) const;
  std::vector<std::vector<LegendEntry>> legend_rows() const;
  void place_frame();
  void titles_and_axes();
  void legend();
  void texts();
  double width_of(const Box& box) const;
  double height_of(const Box& box) const;
  void box_texts();
  void arrow_labels();
  void guides();
  void arrows(bool dashed, bool head);
  void plot_data(const std::string& rows, const std::string& style);

  const Diagram& diagram_;
  Frame frame_;
  Range x_;
  Range y_;
  std::string out_;
  std::string elements_;  ///< of the plot command
  int num_blocks_ = 0;
};

void Script::include(double x, double y, Extent& extent) const {
  if (!std::isfinite(x) || !std::isfinite(y)) {
    throw UsageError(fmt::format("diagram '{}': ({:g}, {:g}) is no place to draw at; expected finite coordinates",
                                 diagram_.title, x, y));
  }
  extent.x = {std::min(extent.x.low, x), std::max(extent.x.high, x)};
  extent.y = {std::min(extent.y.low, y), std::max(extent.y.high, y)};
}

Extent Script::content() const {
  Extent extent;
  for (const Box& box : diagram_.boxes) {
    include(box.x0, box.y0, extent);
    include(box.x1, box.y1, extent);
  }
  for (const Arrow& arrow : diagram_.arrows) {
    include(arrow.x0, arrow.y0, extent);
    include(arrow.x1, arrow.y1, extent);
  }
  for (const Text& text : diagram_.texts) include(text.x, text.y, extent);
  if (extent.x.low <= extent.x.high) return extent;
  throw UsageError(
      fmt::format("diagram '{}': there is nothing to draw; expected a box, an arrow or a text", diagram_.title));
}

Range Script::range_of(const DiagramAxis& axis, Range content) const {
  if (axis.range) {
    if (std::isfinite(axis.range->low) && std::isfinite(axis.range->high) && axis.range->low < axis.range->high) {
      return *axis.range;
    }
    throw UsageError(fmt::format("diagram '{}': an axis cannot run from {:g} to {:g}", diagram_.title, axis.range->low,
                                 axis.range->high));
  }
  for (const Tick& tick : axis.ticks) content = {std::min(content.low, tick.at), std::max(content.high, tick.at)};
  const double margin = content.low < content.high ? 0.03 * (content.high - content.low) : 1;
  return {content.low - margin, content.high + margin};
}

std::vector<std::vector<LegendEntry>> Script::legend_rows() const {
  std::vector<std::vector<LegendEntry>> rows;
  double used = 0;
  for (const LegendEntry& entry : diagram_.legend) {
    const double width = kLegendSquare + 26 + text_width(entry.text, kTickPx);
    if (rows.empty() || used + width > 0.94 * frame_.width) {
      rows.emplace_back();
      used = 0;
    }
    rows.back().push_back(entry);
    used += width;
  }
  return rows;
}

void Script::place_frame() {
  const Extent extent = content();
  x_ = range_of(diagram_.x, extent.x);
  y_ = range_of(diagram_.y, extent.y);
  frame_.width = diagram_.width_px;
  frame_.height = diagram_.height_px;
  const double title_room = diagram_.title.empty() ? 0 : kTitlePx * kLineHeight * lines_of(diagram_.title).size() + 8;
  const double x_ticks_room = diagram_.x.ticks.empty() ? 0 : 26;
  frame_.left =
      14 + (diagram_.y.title.empty() ? 0 : 26) + (diagram_.y.ticks.empty() ? 0 : 14 + ticks_width(diagram_.y.ticks));
  frame_.right = 18;
  frame_.top = 10 + title_room + (diagram_.x_ticks_on_top ? x_ticks_room : 0);
  frame_.bottom = 14 + (diagram_.x_ticks_on_top ? 0 : x_ticks_room) + (diagram_.x.title.empty() ? 0 : 24) +
                  kLegendRowHeight * static_cast<double>(legend_rows().size());
}

void Script::titles_and_axes() {
  const auto [y_low, y_high] = diagram_.y_down ? Range{y_.high, y_.low} : y_;
  out_ +=
      fmt::format("set xrange [{0:.17g}:{1:.17g}]\nset x2range [{0:.17g}:{1:.17g}]\nset yrange [{2:.17g}:{3:.17g}]\n",
                  x_.low, x_.high, y_low, y_high);
  const bool on_top = diagram_.x_ticks_on_top;
  // Only the sides that have ticks; the headings of columns need no line.
  const int border = (diagram_.x.ticks.empty() || on_top ? 0 : 1) + (diagram_.y.ticks.empty() ? 0 : 2);
  out_ += border == 0 ? "unset border\n" : fmt::format("set border {} back linecolor rgb '#555555'\n", border);
  out_ += "unset xtics\nunset x2tics\n";
  out_ += ticks_script(frame_, on_top ? Side::kTop : Side::kBottom, diagram_.x.ticks, x_);
  out_ += ticks_script(frame_, Side::kLeft, diagram_.y.ticks, y_);

  const double title_middle = 10 + kTitlePx * kLineHeight * lines_of(diagram_.title).size() / 2;
  out_ += label_script(frame_, {"screen 0.5", frame_.screen_y(title_middle), diagram_.title,
                                fitted_px(diagram_.title, kTitlePx, 0.94 * frame_.width)});
  const double x_title_y = frame_.height - 16 - kLegendRowHeight * static_cast<double>(legend_rows().size());
  out_ += label_script(frame_, {"graph 0.5", frame_.screen_y(x_title_y), diagram_.x.title,
                                fitted_px(diagram_.x.title, kLabelPx, frame_.inner_width())});
  Label y_title{frame_.screen_x(16), "graph 0.5", diagram_.y.title,
                fitted_px(diagram_.y.title, kLabelPx, frame_.inner_height())};
  y_title.upward = true;
  out_ += label_script(frame_, y_title);
}

void Script::legend() {
  const auto rows = legend_rows();
  double y = frame_.height - 14 - kLegendRowHeight * (static_cast<double>(rows.size()) - 1);
  for (const auto& row : rows) {
    double width = 0;
    for (const LegendEntry& entry : row) width += kLegendSquare + 26 + text_width(entry.text, kTickPx);
    double x = (frame_.width - width + 20) / 2;
    for (const LegendEntry& entry : row) {
      out_ += fmt::format(
          "set object rectangle from {}, {} to {}, {} front fillcolor rgb {} fillstyle solid border "
          "linecolor rgb '#555555' linewidth 0.7\n",
          frame_.screen_x(x), frame_.screen_y(y - kLegendSquare / 2), frame_.screen_x(x + kLegendSquare),
          frame_.screen_y(y + kLegendSquare / 2), quoted(entry.fill));
      out_ += label_script(
          frame_, {frame_.screen_x(x + kLegendSquare + 6), frame_.screen_y(y), entry.text, kTickPx, Align::kLeft});
      x += kLegendSquare + 26 + text_width(entry.text, kTickPx);
    }
    y += kLegendRowHeight;
  }
}

double Script::width_of(const Box& box) const {
  return std::abs(box.x1 - box.x0) / (x_.high - x_.low) * frame_.inner_width();
}

double Script::height_of(const Box& box) const {
  return std::abs(box.y1 - box.y0) / (y_.high - y_.low) * frame_.inner_height();
}

void Script::box_texts() {
  // Boxes of the same size (to a px) get letters of the same size: the largest that fits them all.
  using Size = std::pair<long, long>;
  const auto size_of = [&](const Box& box) { return Size{std::lround(width_of(box)), std::lround(height_of(box))}; };
  const auto fitting_px = [&](const Box& box) {
    return std::min(fitted_px(box.text, kTickPx, 0.94 * width_of(box)),
                    0.9 * height_of(box) / (kLineHeight * static_cast<double>(lines_of(box.text).size())));
  };
  std::map<Size, double> px_of_size;
  for (const Box& box : diagram_.boxes) {
    const double px = fitting_px(box);
    if (box.text.empty() || box.text_px != 0 || px < kLeastReadablePx) continue;
    double& least = px_of_size.try_emplace(size_of(box), px).first->second;
    least = std::min(least, px);
  }
  for (const Box& box : diagram_.boxes) {
    if (box.text.empty() || (box.text_px == 0 && fitting_px(box) < kLeastReadablePx)) continue;
    Label label{first((box.x0 + box.x1) / 2), first((box.y0 + box.y1) / 2), box.text,
                box.text_px != 0 ? box.text_px : px_of_size.at(size_of(box))};
    label.colour = text_colour_on(box.fill);
    out_ += label_script(frame_, label);
  }
}

void Script::arrow_labels() {
  const double px_per_x = frame_.inner_width() / (x_.high - x_.low);
  const double px_per_y = frame_.inner_height() / (y_.high - y_.low);
  std::vector<LabelledArrow> in_px;
  for (const Arrow& arrow : diagram_.arrows) {
    LabelledArrow& added = in_px.emplace_back();
    added = {arrow.x0 * px_per_x, arrow.y0 * px_per_y, arrow.x1 * px_per_x, arrow.y1 * px_per_y};
    if (arrow.label.empty()) continue;
    added.width = text_width(arrow.label, arrow.label_px);
    added.height = kLineHeight * arrow.label_px * static_cast<double>(lines_of(arrow.label).size());
  }
  // A label is better off the columns' lines as well.
  for (const Guide& guide : diagram_.vertical_guides) {
    const Range span = guide.span.value_or(y_);
    in_px.push_back({guide.at * px_per_x, span.low * px_per_y, guide.at * px_per_x, span.high * px_per_y});
  }
  const std::vector<double> places = label_places(in_px);
  for (std::size_t i = 0; i < diagram_.arrows.size(); ++i) {
    const Arrow& arrow = diagram_.arrows[i];
    const double at = arrow.label_at.value_or(places[i]);
    Label label{first(arrow.x0 + at * (arrow.x1 - arrow.x0)), first(arrow.y0 + at * (arrow.y1 - arrow.y0)), arrow.label,
                arrow.label_px};
    label.colour = arrow.colour;
    label.halo = true;
    out_ += label_script(frame_, label);
  }
}

void Script::texts() {
  box_texts();
  arrow_labels();
  for (const Text& text : diagram_.texts) {
    Label label{first(text.x), first(text.y), text.text, text.px, text.align, text.colour};
    label.halo = text.halo;
    out_ += label_script(frame_, label);
  }
}

void Script::plot_data(const std::string& rows, const std::string& style) {
  if (rows.empty()) return;
  out_ += fmt::format("$data{} << END\n{}END\n", num_blocks_, rows);
  elements_ += fmt::format("{}$data{} {} notitle", elements_.empty() ? "" : ", \\\n  ", num_blocks_, style);
  ++num_blocks_;
}

void Script::guides() {
  for (const bool dashed : {false, true}) {
    std::string rows;
    const auto row = [&](const Guide& guide, double x, double y, double dx, double dy) {
      if (guide.dashed != dashed) return;
      rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {}\n", x, y, dx, dy, guide.colour.rgb);
    };
    for (const Guide& guide : diagram_.vertical_guides) {
      const Range span = guide.span.value_or(y_);
      row(guide, guide.at, span.low, 0, span.high - span.low);
    }
    for (const Guide& guide : diagram_.horizontal_guides) {
      const Range span = guide.span.value_or(x_);
      row(guide, span.low, guide.at, span.high - span.low, 0);
    }
    plot_data(rows, fmt::format("using 1:2:3:4:5 with vectors nohead linecolor rgb variable linewidth 1.2 dashtype {}",
                                dashed ? 2 : 1));
  }
}

void Script::arrows(bool dashed, bool head) {
  std::string rows;
  for (const Arrow& arrow : diagram_.arrows) {
    if (arrow.dashed != dashed || arrow.head != head) continue;
    rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {}\n", arrow.x0, arrow.y0, arrow.x1 - arrow.x0,
                        arrow.y1 - arrow.y0, arrow.colour.rgb);
  }
  const std::string end = head ? fmt::format("head filled size screen {:.5f},18 fixed", 12.0 / frame_.width) : "nohead";
  plot_data(rows, fmt::format("using 1:2:3:4:5 with vectors {} linecolor rgb variable linewidth 1.6 dashtype {}", end,
                              dashed ? 2 : 1));
}

std::string Script::text() {
  check_size(diagram_.width_px, diagram_.height_px);
  place_frame();
  out_ = frame_script(frame_);
  titles_and_axes();
  legend();
  texts();
  guides();
  std::string rows;
  for (const Box& box : diagram_.boxes) {
    rows += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {}\n", (box.x0 + box.x1) / 2,
                        (box.y0 + box.y1) / 2, std::min(box.x0, box.x1), std::max(box.x0, box.x1),
                        std::min(box.y0, box.y1), std::max(box.y0, box.y1), box.fill.rgb);
  }
  plot_data(rows,
            "using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 border linecolor rgb '#555555' fillcolor rgb "
            "variable linewidth 0.7");
  for (const bool dashed : {false, true}) {
    for (const bool head : {false, true}) arrows(dashed, head);
  }
  return out_ + "plot " + (elements_.empty() ? "NaN notitle" : elements_) + '\n';
}

}  // namespace

std::string diagram_script(const Diagram& diagram) {
  return Script(diagram).text();
}

}  // namespace lab::plot
