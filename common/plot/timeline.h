#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/plot/plot_colour.h"

// What several ranks did over time, drawn as SVG: schedules, traces, the steps of a collective, and the timelines in
// pages. A row per rank, rank 0 on top, time to the right.
namespace lab::plot {

/// A computation or a call. One that begins inside another of its row is drawn in the lower half of that one.
struct Box {
  int rank = 0;
  double start = 0, end = 0;  ///< seconds
  std::string name = {};      ///< in the box, where it fits
  std::string title = {};     ///< shown when the pointer is over it, with its times
  Colour fill = kWhite;
};

/// A message: from the edge of the sender's box to the edge of the receiver's, or to the ranks' lines where there is none.
struct Arrow {
  int src_rank = 0, dst_rank = 0;
  double start = 0, end = 0;
  std::string label = {};
  std::string title = {};
  Colour colour = kBlack;
  bool dashed = false;
};

/// A part of the critical path: on a rank, or a message to another.
struct PathPart {
  int src_rank = 0, dst_rank = 0;
  double start = 0, end = 0;
};

/// A place on the time axis, with a label in the place of the time.
struct TimeLabel {
  double at = 0;
  std::string text = {};
};

/// The rows of all ranks, by one clock.
struct Clock {
  std::string title = {};
  std::vector<Box> boxes = {};
  std::vector<Arrow> arrows = {};
  std::vector<PathPart> path = {};
  std::vector<double> marks = {};  ///< dashed lines across all rows
  std::vector<TimeLabel> labels = {};
};

struct LegendEntry {
  Colour fill;
  std::string text;
};

struct Timeline {
  std::string title = {};
  int num_ranks = 0;
  std::vector<Clock> clocks = {};  ///< one below the other, each as wide as the picture
  std::vector<LegendEntry> legend = {};
  bool grey_rows = false;  ///< the ranks' lines are grey bars, as high as a box
  double width_px = 0;     ///< of the time axis, a px for each second; 0: so that most names fit their boxes
};

/// The approximate width in a sans-serif font; rather too large than too small.
double text_width(std::string_view text, double px);

/// "21.8 ms"
std::string time_text(double seconds);

/// The picture as one <svg> element. Texts may hold anything.
/// Errors    UsageError: a rank that is not there, an end before its start, a time that is not finite, too many ranks
std::string to_svg(const Timeline& timeline);

}  // namespace lab::plot
