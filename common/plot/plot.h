#pragma once

#include <string>

#include "common/plot/plot_chart.h"
#include "common/plot/plot_diagram.h"

// Pictures for papers and handouts, drawn by gnuplot (the package gnuplot-nox), which runs as a child process. Only
// plot* uses gnuplot.
namespace lab::plot {

/// Draws into the file, in the format that its ending names: .png (at twice the requested size, for sharp print), .svg,
/// .pdf. The file appears complete or not at all. Blocks until gnuplot has ended. The same input and gnuplot give the
/// same bytes, except for a PDF, which contains the time.
/// Errors    UsageError: another ending, gnuplot missing or failing, a file that cannot be written; an existing
///           file is untouched; and the errors of chart_script() and diagram_script()
/// Example   lab::plot::Chart chart;
///           chart.title = "All-reduce, 8 ranks";
///           chart.x = {"message size", true, lab::plot::Unit::kBytes};
///           chart.y = {"time", true, lab::plot::Unit::kSeconds};
///           chart.series.push_back({"ring", bytes, seconds});
///           lab::plot::draw(chart, "all_reduce.png");
void draw(const Chart& chart, const std::string& path);
void draw(const Diagram& diagram, const std::string& path);

/// Checks that draw() could write this file; to be called before a long run whose result it will show.
/// Errors    UsageError, as draw()
void check_plot_name(const std::string& path);

}  // namespace lab::plot
