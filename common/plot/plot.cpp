#include "common/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"

namespace lab::plot {
namespace {

struct Program {
  const char* name;
  const char* package;
};

constexpr Program kGnuplot{"gnuplot", "gnuplot-nox"}, kRsvg{"rsvg-convert", "librsvg2-bin"};

/// "png", "pdf" or "svg".
std::string find_format(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".png" || ending == ".pdf" || ending == ".svg") return ending.substr(1);
  throw UsageError(fmt::format("cannot draw '{}': expected a name that ends in .png, .pdf or .svg", path));
}

void require(const Program& program, const std::string& path) {
  if (!is_in_path(program.name))
    throw UsageError(
        fmt::format("drawing '{}' needs {}; hint: apt-get install {}", path, program.name, program.package));
}

std::string run_for_output(const std::vector<std::string>& argv, const std::string& input, const std::string& path) {
  constexpr double kMostSeconds = 120;
  ProcessSpec program;
  program.argv = argv;
  program.input = input;
  const ProgramEnd end = run_program(program, kMostSeconds);
  if (!end.well() || end.out.empty())
    throw UsageError(fmt::format("drawing '{}': {} {}{}", path, argv.front(), end.message(),
                                 end.well() ? ", without a picture" : ""));
  return end.out;
}

void write(const std::string& svg, AtomicFile& file, const std::string& path) {
  const std::string format = find_format(path);
  file.write(format == "svg"
                 ? svg
                 : run_for_output({kRsvg.name, "--format", format, "--zoom", format == "png" ? "2" : "1"}, svg, path));
  file.commit();
}

}  // namespace

void draw(const Chart& chart, const std::string& path) {
  check_chart_name(path);
  AtomicFile file(path);  // before gnuplot runs: fails at once if it cannot be written
  write(run_for_output({kGnuplot.name, "-d"}, chart_script(chart), path), file,
        path);  // -d: without the user's own settings
}

void draw(const Timeline& timeline, const std::string& path) {
  check_timeline_name(path);
  AtomicFile file(path);
  write(to_svg(timeline), file, path);
}

void check_timeline_name(const std::string& path) {
  if (find_format(path) != "svg") require(kRsvg, path);
  const AtomicFile never_committed(path);
}

void check_chart_name(const std::string& path) {
  check_timeline_name(path);
  require(kGnuplot, path);
}

std::string missing_program() {
  for (const Program& program : {kGnuplot, kRsvg}) {
    if (!is_in_path(program.name))
      return fmt::format("{} is not installed (package {})", program.name, program.package);
  }
  return "";
}

}  // namespace lab::plot
