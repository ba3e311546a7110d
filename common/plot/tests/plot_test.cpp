#include "common/plot/plot.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab::plot;
using lab::testing::contains;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

namespace {

bool skipped() {
  const std::string missing = missing_program();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return !missing.empty();
}

Chart small_chart() {
  Chart chart;
  chart.title = "all-reduce";
  chart.x.label = "message size";
  chart.x.log = true;
  chart.series.push_back({"ring", {1024, 2048, 4096}, {1, 2, 4}});
  chart.markers.push_back({2048, "crossover"});
  return chart;
}

Timeline small_timeline() {
  Timeline timeline;
  timeline.num_ranks = 2;
  timeline.clocks = {{"", {{0, 0, 1, "chunk 0"}}, {{0, 1, 1, 2, "0→1"}}}};
  return timeline;
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

/// A fake program that runs these shell commands.
void write_program(const TemporaryFolder& folder, const std::string& name, const std::string& commands) {
  write_bytes(folder.file(name), "#!/bin/sh\n" + commands + "\n");
  ::chmod(folder.file(name).c_str(), 0755);
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
  draw(small_timeline(), folder.file("timeline.svg"));
  draw(small_timeline(), folder.file("timeline.png"));
  const std::string png = read_bytes(folder.file("chart.png"));
  CHECK(png.substr(1, 3) == "PNG");
  CHECK(big_endian_at(png, 16) == 2 * 960);
  CHECK(big_endian_at(png, 20) == 2 * 600);
  CHECK(read_bytes(folder.file("chart.PDF")).substr(0, 5) == "%PDF-");
  CHECK(read_bytes(folder.file("timeline.svg")) == to_svg(small_timeline()));
  CHECK(read_bytes(folder.file("timeline.png")).substr(1, 3) == "PNG");
  CHECK(folder.num_files() == 4);
}

TEST_CASE("plot: another ending is refused by a message that names the three") {
  const TemporaryFolder folder;
  for (const std::string name : {"x.jpg", "x", "png", ".png", "x.png.txt", "x.svg.", ""}) {
    for (const auto& message : {lab::testing::get_message<lab::UsageError>([&] { check_timeline_name(name); }),
                                lab::testing::get_message<lab::UsageError>([&] { draw(small_chart(), name); })}) {
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
  chart.series.push_back({command, {1024}, {1}});
  draw(chart, folder.file("chart.svg"));
  const std::string svg = read_bytes(folder.file("chart.svg"));
  for (const std::string part : {" title", " x (log scale)", " y", " name", " marker"})
    CHECK_MESSAGE(shown(svg, odd + part), part);
  CHECK(shown(svg, command));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("plot chart: a gap where a pair cannot be shown; the series keeps its name") {
  Chart chart = small_chart();
  chart.series[0] = {"ring", {1, -1, 4, 8}, {1, 2, std::nan(""), 4}};
  chart.series.push_back({"nothing"});
  const std::string script = chart_script(chart);
  CHECK(contains(script, "<< END\n1 1\nNaN NaN\nNaN NaN\n8 4\nEND"));
  CHECK(contains(script, "NaN with linespoints"));
  CHECK(contains(script, "title 'nothing'"));
}

TEST_CASE("plot chart: markers, units and logarithms are gnuplot's") {
  Chart chart = small_chart();
  chart.x.unit = Unit::kBytes;
  chart.y = {"time", true, Unit::kSeconds};
  const std::string script = chart_script(chart);
  for (const char* part :
       {"set logscale x 2\n", "set format x '%.0b %BB'", "set logscale y 10\n", "set format y '%.0s %cs'",
        "set arrow from 2048, graph 0", "set label 'crossover' at 2048", "set xlabel 'message size (log scale)'"})
    CHECK_MESSAGE(contains(script, part), part);
}

TEST_CASE("plot chart: no point, or a wrong length, gives one clear message") {
  Chart chart = small_chart();
  chart.series[0] = {"loss", {0, -1}, {1, 2}};
  CHECK(lab::testing::get_message<lab::UsageError>([&] { chart_script(chart); }) ==
        "chart 'all-reduce': there is no point to draw; expected at least one finite value, above zero on a log axis");
  chart.series[0] = {"loss", {1, 2}, {1}};
  CHECK(lab::testing::get_message<lab::ContractError>([&] { chart_script(chart); }) ==
        "chart 'all-reduce': the series 'loss' has 2 x and 1 y; expected the same number of both");
}

TEST_CASE("plot: where a program is missing, the message says what to install, and an SVG timeline needs none") {
  const TemporaryFolder folder;
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  const std::string file = folder.file("x.png");
  const auto needs = [&](const std::string& program) { return "drawing '" + file + "' needs " + program; };
  const auto refusal = [&](const auto& draw_it) { return lab::testing::get_message<lab::UsageError>(draw_it); };
  CHECK(missing_program() == "gnuplot is not installed (package gnuplot-nox)");
  CHECK(refusal([&] { draw(small_timeline(), file); }) == needs("rsvg-convert; hint: apt-get install librsvg2-bin"));
  write_program(programs, "rsvg-convert", "exit 1");
  CHECK(refusal([&] { check_chart_name(file); }) == needs("gnuplot; hint: apt-get install gnuplot-nox"));
  CHECK(refusal([&] { draw(small_chart(), file); }) == needs("gnuplot; hint: apt-get install gnuplot-nox"));
  CHECK(folder.num_files() == 0);
  write_program(programs, "gnuplot", "exit 1");
  CHECK(missing_program().empty());
  ::unlink(programs.file("rsvg-convert").c_str());
  CHECK(missing_program() == "rsvg-convert is not installed (package librsvg2-bin)");
  draw(small_timeline(), folder.file("x.svg"));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("plot: when a program fails, its message is reported and the old picture stays") {
  const TemporaryFolder folder;
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  const std::string file = folder.file("x.svg");
  write_bytes(file, "old");
  const auto drawn_by = [&](const std::string& commands) {
    write_program(programs, "gnuplot", commands);
    return lab::testing::get_message<lab::UsageError>([&] { draw(small_chart(), file); });
  };
  CHECK(contains(drawn_by("echo half a picture; echo 'line 3: no such'  >&2; echo terminal >&2; exit 1"),
                 "gnuplot exited with code 1: line 3: no such terminal"));
  CHECK(contains(drawn_by("exit 0"), "gnuplot exited with code 0, without a picture"));
  CHECK(contains(drawn_by("kill -9 $$"), "gnuplot was killed by signal 9 (SIGKILL)"));
  CHECK(read_bytes(file) == "old");
  CHECK(folder.num_files() == 1);
  CHECK(drawn_by("read first; echo \"$first\"") == "nothing was thrown");
  CHECK(read_bytes(file) == "set encoding utf8\n");
  write_program(programs, "rsvg-convert", "echo 'no such font' >&2; exit 3");
  CHECK(contains(lab::testing::get_message<lab::UsageError>([&] { draw(small_timeline(), folder.file("x.pdf")); }),
                 "rsvg-convert exited with code 3: no such font"));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("plot: gnuplot draws the narrowest, smallest and largest ranges without a warning") {
  if (skipped()) return;
  constexpr double kMax = 1e300;
  constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
  const TemporaryFolder folder;
  for (const auto& [a, b] : {std::pair(2.3, std::nextafter(2.3, 3)),
                             {2.3, 2.3 + 3e-9},
                             {-kMax, kMax},
                             {1e-280, kMax},
                             {0.0, kDenormal},
                             {kMax, kMax}}) {
    for (const bool log : {false, true}) {
      if (log && (a <= 0 || b <= 0)) continue;
      Chart chart = small_chart();
      chart.x.log = chart.y.log = log;
      chart.series[0] = {"loss", {a, b}, {b, a}};
      draw(chart, folder.file("chart.svg"));
      CHECK(contains(read_bytes(folder.file("chart.svg")), "loss"));
    }
  }
}

TEST_CASE("plot: a name that cannot be written is refused before gnuplot runs, and leaves nothing") {
  const TemporaryFolder folder;
  const TemporaryFolder programs;
  const PathIs path(programs.file(""));
  write_program(programs, "gnuplot", ": > " + programs.file("ran"));
  const std::string missing = folder.file("no/such/x.svg");
  CHECK(contains(lab::testing::get_message<lab::UsageError>([&] { check_chart_name(missing); }), "there is no folder"));
  CHECK(contains(lab::testing::get_message<lab::UsageError>([&] { draw(small_chart(), missing); }),
                 "there is no folder"));
  CHECK(programs.num_files() == 1);
  check_chart_name(folder.file("x.svg"));
  CHECK(folder.num_files() == 0);
}
