#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/plot/plot_colour.h"
#include "common/plot/plot_ticks.h"

// Shared by the scripts of charts and diagrams. Lengths are in px of the picture, counted from its top left corner;
// a font size is the em in px. The terminal line (plot.cpp) scales them to its format.
namespace lab::plot {

constexpr double kTitlePx = 17;
constexpr double kLabelPx = 14;
constexpr double kTickPx = 13;
constexpr double kLineHeight = 1.3;  ///< relative to the font size

/// A gnuplot string that shows exactly this text: nothing in it is a command, a format or markup. Control characters
/// become spaces.
std::string quoted(std::string_view text);

std::string quoted(Colour colour);

/// How many lines the text takes: an empty one takes one, too.
double num_lines(std::string_view text);

/// The approximate width of the widest line; rather too large than too small.
double text_width(std::string_view text, double px);

/// The size at which the text fits the width: wanted, or smaller.
double fitted_px(std::string_view text, double wanted_px, double width);

/// A title above the drawing area and a label per side, with the room they take.
struct Frame {
  int width = 0;
  int height = 0;
  double left = 0;  ///< from here on: between the edge of the picture and the drawing area
  double right = 0;
  double top = 0;
  double bottom = 0;

  double inner_width() const { return width - left - right; }
  double inner_height() const { return height - top - bottom; }
  std::string screen_x(double x) const;  ///< "screen 0.25" for a place x px from the left
  std::string screen_y(double y) const;  ///< for a place y px from the top
};

/// Errors    UsageError: an invalid size
void check_size(int width_px, int height_px);

/// The position of the drawing area and the text encoding; no axes yet.
std::string frame_script(const Frame& frame);

enum class Align { kLeft, kCentre, kRight };

struct Label {
  std::string x;  ///< positions in gnuplot's syntax: "first 3", "screen 0.5"
  std::string y;
  std::string text;  ///< its lines are centred on y as a whole
  double px = kLabelPx;
  Align align = Align::kCentre;
  Colour colour = kBlack;
  bool upward = false;  ///< rotated by 90 degrees, for the y axis; one line only
  bool halo = false;    ///< on a white background
};

std::string label_script(const Frame& frame, const Label& label);

enum class Side { kBottom, kTop, kLeft };

/// The ticks inside the range with labels, along one side of the drawing area; marks only at the bottom and left.
std::string ticks_script(const Frame& frame, Side side, const std::vector<Tick>& ticks, Range range);

/// The widest label.
double ticks_width(const std::vector<Tick>& ticks);

}  // namespace lab::plot
