#pragma once

#include "common/pipeline/timeline_diagram.h"

namespace lab::pipeline {

/// Where a picture of computations has its rows: rank r's from r + half_gap to r + 1 - half_gap.
struct Rows {
  double units_per_second = 1;  ///< of the axis of time
  double px_per_unit = 1;
  double row_px = 1;
  double half_gap = 0;
};

/// Adds the timeline's messages to the picture, and their meaning to its legend.
void add_arrows(const Schedule& schedule, const Timeline& timeline, const Rows& rows, plot::Diagram& picture);

}  // namespace lab::pipeline
