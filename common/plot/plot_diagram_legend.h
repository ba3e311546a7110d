#pragma once

#include <string>
#include <vector>

#include "common/plot/plot_diagram.h"
#include "common/plot/plot_script.h"

// Coloured squares with their meaning, in centred rows at the bottom of the picture.
namespace lab::plot {

using LegendRows = std::vector<std::vector<LegendEntry>>;

constexpr double kLegendRowHeight = 22;

/// As many entries in a row as fit the picture's width.
LegendRows legend_rows(const std::vector<LegendEntry>& entries, int width_px);

std::string legend_script(const Frame& frame, const LegendRows& rows);

}  // namespace lab::plot
