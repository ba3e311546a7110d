#include "common/plot/plot_diagram.h"

#include <limits>

#include "common/plot/plot_label_places.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

using namespace lab::plot;
using lab::testing::contains;

namespace {

std::string diagram_refusal(const Diagram& diagram) {
  return lab::testing::message_of<lab::UsageError>([&] { diagram_script(diagram); });
}

Diagram one_box(const std::string& text = "") {
  Diagram diagram;
  diagram.boxes.push_back({0, 0, 2, 1, colour(0), text});
  return diagram;
}

}  // namespace

TEST_CASE("plot diagram: time may go down") {
  Diagram diagram = one_box();
  diagram.y.range = Range{0, 5};
  CHECK(contains(diagram_script(diagram), "set yrange [0:5]"));
  diagram.y_down = true;
  CHECK(contains(diagram_script(diagram), "set yrange [5:0]"));
}

TEST_CASE("plot diagram: axes only where there are ticks") {
  Diagram diagram = one_box();
  CHECK(contains(diagram_script(diagram), "unset border"));
  diagram.x.ticks = {{0, "rank 0"}, {2, "rank 1"}};
  CHECK(contains(diagram_script(diagram), "set xtics nomirror"));
  diagram.x_ticks_on_top = true;
  CHECK(contains(diagram_script(diagram), "set x2tics nomirror out scale 0 ('' 0, '' 2)"));
  CHECK(contains(diagram_script(diagram), "set label 'rank 1' at first 2, "));
  diagram.x.ticks.push_back({7, "outside"});
  diagram.x.range = Range{0, 3};
  CHECK_FALSE(contains(diagram_script(diagram), "outside"));
}

TEST_CASE("plot diagram: corners in any order, an arrow as start and step, colours as numbers") {
  Diagram diagram;
  diagram.boxes.push_back({2, 1, 0, 0, Colour{0x0000FF}});
  diagram.arrows.push_back({1, 2, 4, 1, Colour{0x00FF00}});
  CHECK(contains(diagram_script(diagram), "1 0.5 0 2 0 1 255\n"));
  CHECK(contains(diagram_script(diagram), "1 2 3 -1 65280\n"));
}

TEST_CASE("plot diagram: boxes of one size have text of one size; text too small to read is left out") {
  Diagram diagram;
  diagram.x.range = Range{0, 100};
  diagram.boxes = {{0, 0, 3, 1, kWhite, "F1"}, {3, 0, 6, 1, kWhite, "F123"}, {6, 0, 6.1, 1, kWhite, "F9"}};
  const std::string script = diagram_script(diagram);
  const auto font_of = [&](const std::string& text) {
    const std::size_t label = script.find("set label '" + text + "'");
    return script.substr(script.find("font", label), 12);
  };
  CHECK(font_of("F1") == font_of("F123"));
  CHECK_FALSE(contains(script, "'F9'"));
}

TEST_CASE("plot diagram: nothing to draw, or an invalid position, gives one clear message") {
  CHECK(contains(diagram_refusal(Diagram{}), "there is nothing to draw"));
  Diagram diagram = one_box();
  diagram.arrows.push_back({0, 0, std::numeric_limits<double>::quiet_NaN(), 1});
  CHECK(contains(diagram_refusal(diagram), "cannot draw at (nan, 1)"));
  diagram = one_box();
  diagram.x.range = Range{1, 0};
  CHECK(contains(diagram_refusal(diagram), "cannot run from 1 to 0"));
}

TEST_CASE("plot labels: off each other and off the other arrows; alone, in the middle") {
  CHECK(label_places({{0, 0, 300, 100, 60, 14}}) == std::vector<double>{0.5});
  // Two that cross in their middles.
  const auto crossing = label_places({{0, 0, 300, 100, 60, 14}, {300, 0, 0, 100, 60, 14}});
  CHECK(crossing[0] != 0.5);
  CHECK(crossing[1] != 0.5);
  // The same arrow twice: their labels lie side by side.
  const auto twice = label_places({{0, 0, 300, 0, 60, 14}, {0, 0, 300, 0, 60, 14}});
  CHECK(300 * (twice[1] > twice[0] ? twice[1] - twice[0] : twice[0] - twice[1]) > 60);
  // A line without a label is avoided as well.
  CHECK(label_places({{0, 0, 300, 0, 60, 14}, {150, -50, 150, 50}})[0] != 0.5);
}

TEST_CASE("plot colours: ten different ones, wrapping around; text stands out on each") {
  for (int i = 0; i < kNumColours; ++i) {
    for (int j = 0; j < i; ++j) CHECK(colour(i).rgb != colour(j).rgb);
    CHECK(colour(i + kNumColours).rgb == colour(i).rgb);
    CHECK(colour(i - kNumColours).rgb == colour(i).rgb);
  }
  CHECK(text_colour_on(kWhite).rgb == kBlack.rgb);
  CHECK(text_colour_on(kBlack).rgb == kWhite.rgb);
  CHECK(tint(colour(0), 1).rgb == colour(0).rgb);
  CHECK(tint(colour(0), 0).rgb == kWhite.rgb);
}
