#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot_colour.h"
#include "common/plot/plot_script.h"
#include "common/plot/plot_ticks.h"

// Pictures of boxes and arrows in the caller's coordinates: messages between ranks over time, what each rank
// holds, the timeline of a pipeline.
namespace lab::plot {

/// A filled rectangle, its text centred in it. Any two opposite corners.
struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  Colour fill = kWhite;
  std::string text = "";
  double text_px = 0;  ///< 0: as large as fits (the same for boxes of the same size); left out where too small to read
};

struct Arrow {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< from (x0, y0) to the head at (x1, y1)
  Colour colour = kBlack;
  std::string label = "";
  std::optional<double> label_at = {};  ///< 0 at the tail, 1 at the head; where it reads best when empty
  double label_px = 12;
  bool dashed = false;
  bool head = true;
};

struct Text {
  double x = 0, y = 0;
  std::string text = "";
  double px = kLabelPx;
  Align align = Align::kCentre;
  Colour colour = kBlack;
  bool halo = false;
};

/// A thin line behind everything else, all the way across or over the span.
struct Guide {
  double at = 0;
  Colour colour = kLightGrey;
  bool dashed = false;
  std::optional<Range> span = {};
};

struct LegendEntry {
  Colour fill;
  std::string text;
};

struct DiagramAxis {
  std::string title;
  std::vector<Tick> ticks = {};     ///< none: the axis is not drawn
  std::optional<Range> range = {};  ///< fitted to the content, with a margin, when empty
};

struct Diagram {
  std::string title;
  DiagramAxis x;
  DiagramAxis x_top;  ///< another scale along the top: its ticks are at places of x, its range is x's
  DiagramAxis y;
  bool y_down = false;          ///< y grows downwards, as time does in a message diagram
  bool x_ticks_on_top = false;  ///< ticks as the headings of columns; the axis' title stays below
  std::vector<Guide> vertical_guides;
  std::vector<Guide> horizontal_guides;
  std::vector<Box> boxes;     ///< later ones over earlier ones
  std::vector<Arrow> arrows;  ///< over the boxes
  std::vector<Text> texts;
  std::vector<LegendEntry> legend;  ///< coloured squares with their meaning, below the drawing
  int width_px = 960;
  int height_px = 600;
};

/// The commands that draw the diagram on whatever terminal was set.
/// Errors    UsageError: nothing to draw, a coordinate that is not finite, an invalid range or size
std::string diagram_script(const Diagram& diagram);

}  // namespace lab::plot
