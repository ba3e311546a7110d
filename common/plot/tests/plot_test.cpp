#include "common/plot/plot.h"

#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "common/plot/plot_program.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab::plot;
using lab::testing::contains;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

namespace {

bool skipped() {
  if (gnuplot_found()) return false;
  MESSAGE("skipped: gnuplot is not installed");
  return true;
}

Chart small_chart() {
  Chart chart;
  chart.title = "all-reduce";
  chart.x.label = "message size";
  chart.x.log = true;
  chart.series.push_back({"ring", {1024, 2048, 4096}, {1, 2, 4}});
  chart.markers.push_back({2048, "crossover"});
  chart.width_px = 400;
  chart.height_px = 300;
  return chart;
}

Diagram small_diagram() {
  Diagram diagram;
  diagram.boxes.push_back({0, 0, 1, 1, colour(1), "chunk 0"});
  diagram.arrows.push_back({0, 1, 1, 2, colour(2), "0→1"});
  return diagram;
}

/// Sets PATH to the folder alone while it lives.
class PathIs {
 public:
  explicit PathIs(const std::string& folder) : before_(std::getenv("PATH")) { ::setenv("PATH", folder.c_str(), 1); }
  ~PathIs() { ::setenv("PATH", before_.c_str(), 1); }
  PathIs(const PathIs&) = delete;
  PathIs& operator=(const PathIs&) = delete;

 private:
  std::string before_;
};

/// A fake gnuplot that runs these shell commands.
void write_program(const TemporaryFolder& folder, const std::string& commands) {
  write_bytes(folder.file("gnuplot"), "#!/bin/sh\n" + commands + "\n");
  ::chmod(folder.file("gnuplot").c_str(), 0755);
}

int big_endian_at(const std::string& bytes, std::size_t offset) {
  int value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes.at(offset + i));
  return value;
}

}  // namespace

TEST_CASE("plot: the ending of the name chooses the format") {
  if (skipped()) return;
  const TemporaryFolder folder;
  draw(small_chart(), folder.file("chart.png"));
  draw(small_chart(), folder.file("chart.PDF"));
  draw(small_diagram(), folder.file("diagram.svg"));
  const std::string png = read_bytes(folder.file("chart.png"));
  CHECK(png.substr(1, 3) == "PNG");
  CHECK(big_endian_at(png, 16) == 800);  // twice the px asked for
  CHECK(big_endian_at(png, 20) == 600);
  CHECK(read_bytes(folder.file("chart.PDF")).substr(0, 5) == "%PDF-");
  const std::string svg = read_bytes(folder.file("diagram.svg"));
  CHECK(contains(svg, "<svg"));
  CHECK(contains(svg, "width=\"960\" height=\"600\""));
  CHECK(folder.num_files() == 3);
}

TEST_CASE("plot: another ending is refused by a message that names the three") {
  const TemporaryFolder folder;
  for (const std::string name : {"x.jpg", "x", "png", ".png", "x.png.txt", "x.svg.", ""}) {
    for (const auto& message : {lab::testing::message_of<lab::UsageError>([&] { check_plot_name(name); }),
                                lab::testing::message_of<lab::UsageError>([&] { draw(small_chart(), name); })}) {
      CHECK_MESSAGE(contains(message, "cannot draw '" + name + "': expected a name that ends in .png, .pdf or .svg"),
                    name);
    }
  }
}

TEST_CASE("plot: the same input gives the same PNG and SVG") {
  if (skipped()) return;
  const TemporaryFolder folder;
  for (const std::string ending : {".png", ".svg"}) {
    draw(small_chart(), folder.file("a" + ending));
    draw(small_chart(), folder.file("b" + ending));
    CHECK(read_bytes(folder.file("a" + ending)) == read_bytes(folder.file("b" + ending)));
  }
}

TEST_CASE("plot: every text is shown as it is, and none is a command") {
  if (skipped()) return;
  const TemporaryFolder folder;
  const std::string command = "`touch " + folder.file("made") + "`";
  const std::string odd = R"(it's {a}_b^c @x "q" \n 100%d %% #1 $0 [;] Σ α β µs →)";
  const auto shown = [&](const std::string& svg, const std::string& text) { return contains(svg, ">" + text + "<"); };

  Chart chart = small_chart();
  chart.title = odd + " title";
  chart.x.label = odd + " x";
  chart.y.label = odd + " y";
  chart.series[0].name = odd + " name";
  chart.markers[0].label = odd + " marker";
  chart.width_px = 2000;
  draw(chart, folder.file("chart.svg"));
  const std::string chart_svg = read_bytes(folder.file("chart.svg"));
  for (const std::string part : {" title", " x (log scale)", " y", " name", " marker"})
    CHECK_MESSAGE(shown(chart_svg, odd + part), part);

  Diagram diagram = small_diagram();
  diagram.x.ticks = {{0, odd + " tick"}, {1, command}};
  diagram.boxes[0].text = odd + " box";
  diagram.arrows[0].label = command;
  diagram.texts.push_back({1, 1, "two\nlines', system('touch " + folder.file("made") + "')\tend", 12});
  diagram.legend.push_back({colour(0), odd + " legend"});
  diagram.title = "a < b & c";
  draw(diagram, folder.file("diagram.svg"));
  const std::string svg = read_bytes(folder.file("diagram.svg"));
  for (const std::string part : {" tick", " box", " legend"}) CHECK_MESSAGE(shown(svg, odd + part), part);
  CHECK(shown(svg, command));
  CHECK(shown(svg, "two"));
  CHECK(shown(svg, "lines', system('touch " + folder.file("made") + "') end"));
  CHECK(contains(svg, "a &lt; b &amp; c"));
  CHECK(folder.num_files() == 2);
}

TEST_CASE("plot: without gnuplot, the message says what to install") {
  const TemporaryFolder folder;
  const TemporaryFolder empty;
  const PathIs path(empty.file(""));
  const std::string file = folder.file("x.png");
  const std::string expected = "drawing '" + file + "' needs gnuplot; hint: apt-get install gnuplot-nox";
  CHECK_FALSE(gnuplot_found());
  CHECK(lab::testing::message_of<lab::UsageError>([&] { check_plot_name(file); }) == expected);
  CHECK(lab::testing::message_of<lab::UsageError>([&] { draw(small_chart(), file); }) == expected);
  CHECK(folder.num_files() == 0);
}

TEST_CASE("plot: when gnuplot fails, its message is reported and the old picture stays") {
  const TemporaryFolder folder;
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  const std::string file = folder.file("x.png");
  write_bytes(file, "old");
  const auto drawn_by = [&](const std::string& commands) {
    write_program(programs, commands);
    return lab::testing::message_of<lab::UsageError>([&] { draw(small_chart(), file); });
  };
  CHECK(contains(drawn_by("echo half a picture; echo 'line 3: no such'  >&2; echo terminal >&2; exit 1"),
            "gnuplot exited with code 1: line 3: no such terminal"));
  CHECK(contains(drawn_by("exit 0"), "gnuplot exited with code 0, without a picture"));
  CHECK(contains(drawn_by("kill -9 $$"), "gnuplot was killed by signal 9 (SIGKILL)"));
  CHECK(read_bytes(file) == "old");
  CHECK(folder.num_files() == 1);
  CHECK(drawn_by("read first; echo \"$first\"") == "nothing was thrown");
  CHECK(contains(read_bytes(file), "set terminal pngcairo"));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("plot: a gnuplot that hangs is killed") {
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  write_program(programs, "exec /bin/sleep 600");
  CHECK(lab::testing::message_of<lab::UsageError>([] {
          run_gnuplot("", "drawing 'x.png'", std::chrono::milliseconds(50));
        }) == "drawing 'x.png': gnuplot timed out after 0.05 s");
}

TEST_CASE("plot: gnuplot draws the narrowest, smallest and largest ranges without a warning") {
  if (skipped()) return;
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
  const TemporaryFolder folder;
  for (const auto& [a, b] : {std::pair(2.3, std::nextafter(2.3, 3)),
                             {2.3, 2.3 + 3e-9},
                             {-kMax, kMax},
                             {kDenormal, kMax},
                             {0.0, kDenormal},
                             {kMax, kMax}}) {
    for (const bool log : {false, true}) {
      if (log && (a <= 0 || b <= 0)) continue;
      Chart chart = small_chart();
      chart.x.log = chart.y.log = log;
      chart.series[0] = {"loss", {a, b}, {b, a}};
      draw(chart, folder.file("chart.svg"));
      CHECK(contains(read_bytes(folder.file("chart.svg")), "loss"));
      if (log || std::abs(a) > 1e300 || std::abs(b) > 1e300) continue;
      Diagram diagram;
      diagram.boxes.push_back({a, a, b, b, colour(1), ""});
      diagram.arrows.push_back({a, b, b, a, colour(2), "0→1"});
      draw(diagram, folder.file("diagram.svg"));
      CHECK(contains(read_bytes(folder.file("diagram.svg")), "<svg"));
    }
  }
}

TEST_CASE("plot: a name that cannot be written is refused before gnuplot runs, and leaves nothing") {
  const TemporaryFolder folder;
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  write_program(programs, ": > " + programs.file("ran"));
  const std::string missing = folder.file("no/such/x.svg");
  CHECK(contains(lab::testing::message_of<lab::UsageError>([&] { check_plot_name(missing); }), "there is no folder"));
  CHECK(
      contains(lab::testing::message_of<lab::UsageError>([&] { draw(small_chart(), missing); }), "there is no folder"));
  CHECK(programs.num_files() == 1);
  check_plot_name(folder.file("x.svg"));
  CHECK(folder.num_files() == 0);
}
