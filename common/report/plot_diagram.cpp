#include "common/report/plot_diagram.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/plot_diagram_labels.h"
#include "common/report/plot_diagram_layout.h"
#include "common/report/plot_diagram_legend.h"

namespace lab::plot {
namespace {

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
  script += ticks_script(layout.frame, Side::kLeft, diagram.y.ticks, layout.y);
  return script;
}

std::string titles_script(const Diagram& diagram, const DiagramLayout& layout) {
  const Frame& frame = layout.frame;
  const double title_middle = 10 + kTitlePx * kLineHeight * lines_of(diagram.title).size() / 2;
  std::string script = label_script(frame, {"screen 0.5", frame.screen_y(title_middle), diagram.title,
                                            fitted_px(diagram.title, kTitlePx, 0.94 * frame.width)});
  const double x_title_y = frame.height - 16 - kLegendRowHeight * static_cast<double>(layout.legend_rows.size());
  script += label_script(frame, {"graph 0.5", frame.screen_y(x_title_y), diagram.x.title,
                                 fitted_px(diagram.x.title, kLabelPx, frame.inner_width())});
  Label y_title{frame.screen_x(16), "graph 0.5", diagram.y.title,
                fitted_px(diagram.y.title, kLabelPx, frame.inner_height())};
  y_title.upward = true;
  script += label_script(frame, y_title);
  return script;
}

/// Data blocks and the plot command that draws them, the first one at the back.
class Plot {
 public:
  /// `rows` in a style; none: nothing.
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
