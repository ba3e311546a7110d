#include "common/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/plot/plot_program.h"

namespace lab::plot {
namespace {

enum class Format { kPng, kPdf, kSvg };

Format format_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".png") return Format::kPng;
  if (ending == ".pdf") return Format::kPdf;
  if (ending == ".svg") return Format::kSvg;
  throw UsageError(fmt::format("cannot draw '{}': expected a name that ends in .png, .pdf or .svg", path));
}

std::string purpose(const std::string& path) {
  return fmt::format("drawing '{}'", path);
}

/// Makes px and em mean the same in the script and in the picture, whatever the terminal's own units.
std::string terminal(Format format, int width_px, int height_px) {
  // "sans-serif" is known to fontconfig and to browsers alike.
  constexpr const char* kCommon = "noenhanced font 'sans-serif,14' background rgb 'white'";
  switch (format) {
    case Format::kPng:  // its font sizes are in points of 4/3 px
      return fmt::format("set terminal pngcairo size {},{} fontscale 1.5 linewidth 2 pointscale 1.8 {}\n", 2 * width_px,
                         2 * height_px, kCommon);
    case Format::kPdf:  // 96 px to the inch; its font sizes are in 4/3 points
      return fmt::format(
          "set terminal pdfcairo size {:.4f}in,{:.4f}in fontscale 0.5625 linewidth 1.5 pointscale 0.9 {}\n",
          width_px / 96.0, height_px / 96.0, kCommon);
    case Format::kSvg:
      return fmt::format("set terminal svg size {},{} {}\nset pointsize 0.7\n", width_px, height_px, kCommon);
  }
  return "";
}

void draw_script(const std::string& script, int width_px, int height_px, const std::string& path) {
  const Format format = format_of(path);
  AtomicFile file(path);  // before gnuplot runs: fails at once if it cannot be written
  file.write(run_gnuplot(terminal(format, width_px, height_px) + script, purpose(path)));
  file.commit();
}

}  // namespace

void draw(const Chart& chart, const std::string& path) {
  draw_script(chart_script(chart), chart.width_px, chart.height_px, path);
}

void draw(const Diagram& diagram, const std::string& path) {
  draw_script(diagram_script(diagram), diagram.width_px, diagram.height_px, path);
}

void check_plot_name(const std::string& path) {
  format_of(path);
  require_gnuplot(purpose(path));
  const AtomicFile never_committed(path);
}

}  // namespace lab::plot
