#include "common/report/plot_diagram_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "common/report/plot_label_places.h"

namespace lab::plot {
namespace {

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
  // Boxes of the same size (to a px) get letters of the same size: the largest that fits them all.
  using Size = std::pair<long, long>;
  const auto size_of = [&](const Box& box) {
    return Size{std::lround(width_of(box, layout)), std::lround(height_of(box, layout))};
  };
  const auto fitting_px = [&](const Box& box) {
    return std::min(fitted_px(box.text, kTickPx, 0.94 * width_of(box, layout)),
                    0.9 * height_of(box, layout) / (kLineHeight * static_cast<double>(lines_of(box.text).size())));
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
    added.height = kLineHeight * arrow.label_px * static_cast<double>(lines_of(arrow.label).size());
  }
  // A label is better off the columns' lines as well.
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

}  // namespace

std::string labels_script(const Diagram& diagram, const DiagramLayout& layout) {
  std::string script = box_texts(diagram, layout) + arrow_labels(diagram, layout);
  for (const Text& text : diagram.texts) {
    Label label{first(text.x), first(text.y), text.text, text.px, text.align, text.colour};
    label.halo = text.halo;
    script += label_script(layout.frame, label);
  }
  return script;
}

}  // namespace lab::plot
