#pragma once

#include "common/report/plot_diagram.h"
#include "common/report/plot_diagram_legend.h"
#include "common/report/plot_script.h"

namespace lab::plot {

/// Where a diagram's drawing area lies in the picture, and what lies in it.
struct DiagramLayout {
  Frame frame;
  Range x;  ///< across the drawing area, in the diagram's coordinates
  Range y;
  LegendRows legend_rows;
};

/// Errors    UsageError: as diagram_script
DiagramLayout layout_of(const Diagram& diagram);

}  // namespace lab::plot
