#include "common/plot/plot_chart.h"

#include <cmath>
#include <limits>

#include "common/base/errors.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

using namespace lab::plot;
using lab::testing::contains;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Chart chart_of(std::vector<double> x, std::vector<double> y) {
  Chart chart;
  chart.title = "time";
  chart.series.push_back({"ring", std::move(x), std::move(y)});
  return chart;
}

template <typename Error>
std::string chart_refusal(const Chart& chart) {
  return lab::testing::message_of<Error>([&] { chart_script(chart); });
}

}  // namespace

TEST_CASE("plot chart: a log axis is logarithmic in the script, with a positive range") {
  Chart chart = chart_of({1024, 4096}, {1e-3, 2e-3});
  CHECK_FALSE(contains(chart_script(chart), "logscale"));
  chart.x.log = true;
  chart.x.unit = Unit::kBytes;
  CHECK(contains(chart_script(chart), "set logscale x\n"));
  CHECK_FALSE(contains(chart_script(chart), "set logscale y\n"));
  CHECK(contains(chart_script(chart), "('' 1024, '' 2048, '' 4096)"));
  CHECK(contains(chart_script(chart), "set label '2 KiB' at first 2048, "));
  chart.x.range = Range{256, 65536};
  CHECK(contains(chart_script(chart), "set xrange [256:65536]"));
}

TEST_CASE("plot chart: what cannot be shown is one empty line between the points around it") {
  const std::string lines = chart_script(chart_of({0, 1, 2, 3, 4, 5, 6}, {kNan, 10, 11, kNan, kInfinity, 14, kNan}));
  CHECK(contains(lines, "<< END\n1 10\n2 11\n\n5 14\nEND\n"));
  Chart chart = chart_of({1, 2, 3}, {1, 0, 3});
  chart.y.log = true;
  CHECK(contains(chart_script(chart), "<< END\n1 1\n\n3 3\nEND\n"));
}

TEST_CASE("plot chart: a series without a point keeps its name; a chart without one is refused") {
  Chart chart = chart_of({1, 2}, {1, 2});
  chart.series.push_back({"tree", {1, 2}, {kNan, kNan}});
  CHECK(contains(chart_script(chart), "keyentry"));
  CHECK(contains(chart_script(chart), "title 'tree'"));
  CHECK(contains(chart_refusal<lab::UsageError>(chart_of({1, 2}, {kNan, kNan})), "there is no point to draw"));
  CHECK(contains(chart_refusal<lab::UsageError>(Chart{}), "there is no point to draw"));
  Chart log = chart_of({1, 2}, {0, -1});
  log.y.log = true;
  CHECK(contains(chart_refusal<lab::UsageError>(log), "above zero on a log axis"));
}

TEST_CASE("plot chart: a wrong length, range or size gives one clear message") {
  CHECK(contains(chart_refusal<lab::ContractError>(chart_of({1, 2}, {1})), "the series 'ring' has 2 x and 1 y"));
  Chart chart = chart_of({1, 2}, {1, 2});
  chart.y.range = Range{3, 3};
  CHECK(contains(chart_refusal<lab::UsageError>(chart), "cannot run from 3 to 3"));
  chart.y.range = Range{0, 3};
  chart.y.log = true;
  CHECK(contains(chart_refusal<lab::UsageError>(chart), "cannot run from 0 to 3"));
  chart.y = {};
  chart.width_px = 0;
  CHECK(contains(chart_refusal<lab::UsageError>(chart), "0 x 600 px"));
}

TEST_CASE("plot chart: markers that are near each other have their labels on two levels; one outside is left out") {
  Chart chart = chart_of({1, 1000}, {1, 2});
  const auto first_top = [&] { return chart_script(chart).substr(0, chart_script(chart).find("set bmargin")); };
  chart.markers = {{200, "tree to ring"}, {800, "ring to two-level"}};
  const std::string apart = first_top();
  chart.markers = {{200, "tree to ring"}, {210, "ring to two-level"}};
  CHECK(first_top() != apart);
  chart.markers = {{200, "tree to ring"}, {5000, "outside"}};
  CHECK(first_top() == apart);
  CHECK_FALSE(contains(chart_script(chart), "outside"));
}

TEST_CASE("plot chart: one point, or equal points, have an axis around them") {
  for (const bool log : {false, true}) {
    for (const double value : {1e-6, 1.0, 3e9}) {
      Chart chart = chart_of({value}, {value});
      chart.x.log = chart.y.log = log;
      CHECK(contains(chart_script(chart), "set ytics"));
    }
  }
  CHECK(contains(chart_script(chart_of({0}, {0})), "set yrange [-1:1]"));
}

TEST_CASE("plot chart: values that differ in their last bits only are drawn as one value") {
  const double loss = 2.302585;
  const std::string script = chart_script(chart_of({1, 2}, {loss, std::nextafter(loss, 3)}));
  CHECK(contains(script, "set yrange [1.1512925"));
  Chart chart = chart_of({1, 2}, {loss, loss});
  chart.y.range = Range{loss, std::nextafter(loss, 3)};  // a given range is widened as far as needed
  CHECK(contains(chart_script(chart), "set yrange [2.3025849"));
}

TEST_CASE("plot chart: any finite values are drawn, on either kind of axis") {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
  const std::vector<double> values{-kMax, -1, -kDenormal, 0, kDenormal, 1e-300, 1, 1 + 2.3e-16, 1e300, kMax};
  for (const double a : values) {
    for (const double b : values) {
      for (const bool log : {false, true}) {
        if (log && (a <= 0 || b <= 0)) continue;
        Chart chart = chart_of({a, b}, {b, a});
        chart.x.log = chart.y.log = log;
        chart.markers = {{a, "here"}};
        const std::string script = chart_script(chart);
        CHECK(contains(script, "set xtics"));
        CHECK(contains(script, "set ytics"));
        CHECK_FALSE(contains(script, "nan"));
        CHECK_FALSE(contains(script, "inf"));
      }
    }
  }
}

TEST_CASE("plot chart: a log axis says that it is one") {
  Chart chart = chart_of({1, 2}, {1, 1000});
  chart.x.label = "ranks";
  chart.y.label = "MB";
  chart.y.log = true;
  CHECK(contains(chart_script(chart), "'ranks'"));
  CHECK(contains(chart_script(chart), "'MB (log scale)'"));
}
