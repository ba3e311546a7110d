#pragma once

#include <string>

#include "common/plot/plot_chart.h"
#include "common/plot/timeline.h"

// Pictures for papers and handouts. Charts are drawn by gnuplot (the package gnuplot-nox), timelines here, both as SVG;
// rsvg-convert (librsvg2-bin) makes PNG and PDF of it. Only this file's .cpp starts the two programs.
namespace lab::plot {

/// Draws into the file, in the format that its ending names: .svg, .png (at twice the size, for sharp print), .pdf. The
/// file appears complete or not at all. The same input and programs give the same bytes, except for a PDF, which
/// contains the time.
/// Errors    UsageError: another ending; a program that is needed is missing or fails; a file that cannot be written; an
///           existing file is untouched; and the errors of chart_script() and to_svg()
void draw(const Chart& chart, const std::string& path);
void draw(const Timeline& timeline, const std::string& path);

/// Checks that draw() could write this file; to be called before a long run whose result it will show.
/// Errors    UsageError, as draw()
void check_chart_name(const std::string& path);
void check_timeline_name(const std::string& path);

/// "gnuplot is not installed (package gnuplot-nox)"; empty if draw() has all that it may need.
std::string missing_program();

}  // namespace lab::plot
