#include "common/plot/timeline.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "common/api/errors.h"
#include "common/plot/timeline_json.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab::plot;
using lab::testing::contains;

namespace {

/// Rank 0 computes for 10 s and sends to rank 2, which computes until 30.
Timeline chain() {
  Timeline timeline;
  timeline.title = "a chain";
  timeline.num_ranks = 3;
  Clock& clock = timeline.clocks.emplace_back();
  clock.title = "model time";
  clock.boxes = {{0, 0, 10, "first", "rank 0: first", colour(0)}, {2, 20, 30, "last", "rank 2: last", colour(1)}};
  clock.arrows = {{0, 2, 10, 20, "", "a message", colour(2), false}};
  clock.path = {{0, 0, 0, 10}, {0, 2, 10, 20}, {2, 2, 20, 30}};
  clock.marks = {15};
  timeline.legend = {{colour(0), "what is first"}};
  return timeline;
}

/// The groups of each match.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern) {
  std::vector<std::vector<std::string>> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.emplace_back(match->begin(), match->end());
  return found;
}

struct Rect {
  double x, y, width, height;
};

std::vector<Rect> find_boxes(const std::string& svg) {
  std::vector<Rect> boxes;
  for (const auto& box :
       matches(svg, "class=\"box\" x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\""))
    boxes.push_back({std::stod(box[1]), std::stod(box[2]), std::stod(box[3]), std::stod(box[4])});
  return boxes;
}

std::vector<double> read_numbers(const std::string& text) {
  std::vector<double> numbers;
  for (const auto& number : matches(text, "[0-9.]+")) numbers.push_back(std::stod(number[0]));
  return numbers;
}

std::string refusal(const Timeline& timeline) {
  return lab::testing::get_message<lab::UsageError>([&] { to_svg(timeline); });
}

}  // namespace

TEST_CASE("timeline: an arrow from the edge of a box to the edge of a box, or to the line where there is none") {
  Timeline timeline = chain();
  const std::string svg = to_svg(timeline);
  const std::vector<Rect> boxes = find_boxes(svg);
  REQUIRE(boxes.size() == 2);
  const auto arrows = matches(svg, "class=\"arrow\" d=\"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)L");
  REQUIRE(arrows.size() == 1);
  CHECK(std::stod(arrows[0][1]) == doctest::Approx(boxes[0].x + boxes[0].width));
  CHECK(std::stod(arrows[0][2]) == doctest::Approx(boxes[0].y + boxes[0].height));
  CHECK(std::stod(arrows[0][3]) == doctest::Approx(boxes[1].x));
  CHECK(std::stod(arrows[0][4]) == doctest::Approx(boxes[1].y));
  timeline.clocks[0].boxes.pop_back();
  const auto lower = matches(to_svg(timeline), "class=\"arrow\" d=\"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)L");
  CHECK(std::stod(lower[0][4]) == doctest::Approx(boxes[1].y + boxes[1].height / 2));
}

TEST_CASE("timeline: the critical path is unbroken, in front of the boxes and at their lower edge") {
  const std::string svg = to_svg(chain());
  const std::vector<Rect> boxes = find_boxes(svg);
  const auto parts = matches(svg, "class=\"path\" points=\"([^\"]*)\"");
  REQUIRE(parts.size() == 3);
  const std::vector<double> message = read_numbers(parts[0][1]), first = read_numbers(parts[1][1]),
                            last = read_numbers(parts[2][1]);
  CHECK(std::vector<double>(first.end() - 2, first.end()) == std::vector<double>(message.begin(), message.begin() + 2));
  CHECK(std::vector<double>(message.end() - 2, message.end()) == std::vector<double>(last.begin(), last.begin() + 2));
  CHECK(first[1] == doctest::Approx(boxes[0].y + boxes[0].height));
  CHECK(last[1] == doctest::Approx(boxes[1].y + boxes[1].height));
  CHECK(svg.rfind("class=\"path\"") > svg.rfind("class=\"box\""));
}

TEST_CASE("timeline: no line is drawn over a name") {
  Timeline timeline = chain();
  timeline.clocks[0].path.clear();
  timeline.clocks[0].arrows[0].label = "4 KiB";
  const std::string svg = to_svg(timeline);
  const std::size_t last_line = std::max(svg.rfind("<line"), svg.rfind("<path"));
  for (const char* name : {">first<", ">last<", ">4 KiB<"}) CHECK(svg.find(name) > last_line);
}

TEST_CASE("timeline: names where they fit, in two lines if need be; times where the pointer is") {
  Timeline timeline = chain();
  timeline.clocks[0].boxes = {{0, 0, 100, "all_gather", "rank 0: all_gather, x.cpp:7"}, {1, 0, 1, "all_gather"}};
  CHECK(contains(to_svg(timeline), ">all_gather</text>"));
  CHECK(contains(to_svg(timeline), "<title>rank 0: all_gather, x.cpp:7; 0 to 100 s, takes 100 s</title>"));
  timeline.clocks[0].boxes = {{0, 0, 100, "all_gather"}, {0, 100, 5400, ""}};
  CHECK(contains(to_svg(timeline), ">all</text>"));
  CHECK(contains(to_svg(timeline), ">gather</text>"));
  timeline.clocks[0].boxes = {{0, 0, 1, "all_gather"}, {0, 1, 1e6, "long"}};
  CHECK_FALSE(contains(to_svg(timeline), "gather"));
}

TEST_CASE("timeline: what begins in a box is drawn in its lower half") {
  Timeline timeline = chain();
  timeline.clocks[0].boxes = {{1, 2, 4, "inside"}, {1, 0, 10, "around"}, {1, 10, 20, "after"}};
  const std::vector<Rect> boxes = find_boxes(to_svg(timeline));
  REQUIRE(boxes.size() == 3);
  CHECK(boxes[1].height < boxes[0].height / 2);
  CHECK(boxes[1].y >= boxes[0].y + boxes[0].height / 2);
  CHECK(boxes[2].height == boxes[0].height);
}

TEST_CASE("timeline: labels of arrows are off each other") {
  Timeline timeline;
  timeline.num_ranks = 2;
  timeline.clocks.emplace_back();
  timeline.clocks[0].arrows = {{0, 1, 0, 1, "down"}, {1, 0, 0, 1, "up"}};
  const auto labels = matches(to_svg(timeline), "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*>(?:up|down)<");
  REQUIRE(labels.size() == 2);
  const double dx = std::stod(labels[0][1]) - std::stod(labels[1][1]),
               dy = std::stod(labels[0][2]) - std::stod(labels[1][2]);
  CHECK((std::abs(dx) > 30 || std::abs(dy) >= 15));
}

TEST_CASE("timeline: texts are texts, whatever they hold") {
  Timeline timeline = chain();
  const std::string hostile =
      "</title></svg><script>alert('&\"')</script>\x1b\xff\xEF\xBF\xBF\n" + std::string(1'000'000, 'x');
  timeline.title = timeline.clocks[0].title = timeline.clocks[0].boxes[0].name = timeline.clocks[0].boxes[0].title =
      timeline.clocks[0].arrows[0].label = timeline.clocks[0].arrows[0].title = timeline.legend[0].text = hostile;
  const std::string svg = to_svg(timeline);
  for (const char* part : {"<script", "</title></svg>", "\x1b", "\xff", "\xEF\xBF\xBF", "\"')"})
    CHECK_FALSE(contains(svg, part));
  CHECK(contains(svg, "&lt;/title&gt;&lt;/svg&gt;&lt;script&gt;alert('&amp;&quot;')"));
  CHECK(svg.size() < 20000);
}

TEST_CASE("timeline: anything from nothing to a thousand ranks and an instant to years can be drawn") {
  CHECK(contains(to_svg({}), "<svg"));
  for (const double end : {0.0, 5e-324, 1e-12, 1e12}) {
    Timeline timeline = chain();
    timeline.clocks[0] = {"", {{0, 0, end, "x"}}, {{0, 1, end, end}}};
    const std::string svg = to_svg(timeline);
    for (const char* part : {"nan", "inf"}) CHECK_FALSE(contains(svg, part));
    CHECK(svg.size() < 20000);
  }
  Timeline timeline = chain();
  timeline.num_ranks = 1000;
  CHECK(matches(to_svg(timeline), ">rank [0-9]+<").size() == 500);
}

TEST_CASE("timeline: what cannot be drawn is refused by one clear message") {
  const auto with = [](const auto& change) {
    Timeline timeline = chain();
    change(timeline);
    return refusal(timeline);
  };
  CHECK(with([](Timeline& timeline) { timeline.clocks[0].boxes[0].rank = 3; }) == "timeline 'a chain': rank 3 of 3");
  CHECK(with([](Timeline& timeline) { timeline.clocks[0].path[0].dst_rank = -1; }) ==
        "timeline 'a chain': rank -1 of 3");
  CHECK(contains(with([](Timeline& timeline) { timeline.num_ranks = 1 << 20; }), "expected at most 10000"));
  CHECK(contains(with([](Timeline& timeline) { timeline.clocks[0].arrows[0].end = 5; }), "a time from 10 s to 5 s"));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK(contains(with([&](Timeline& timeline) { timeline.clocks[0].marks[0] = bad; }), "expected finite ones"));
}

TEST_CASE("timeline: its JSON gives the same picture; what is not such JSON is refused") {
  const nlohmann::json json = to_json(chain());
  CHECK(to_svg(timeline_from_json(nlohmann::json::parse(json.dump()))) == to_svg(chain()));
  const auto refused = [&](const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json other = json;
    other[nlohmann::json::json_pointer(pointer)] = value;
    CAPTURE(other.dump());
    CHECK_THROWS_WITH_AS(timeline_from_json(other), doctest::Contains("expected a timeline's JSON"), lab::UsageError);
  };
  refused("/ranks", 1.5);
  refused("/clocks/0/boxes/0/0", 1e300);
  refused("/clocks/0/boxes/0/1", nullptr);
  refused("/clocks/0/arrows/0", nlohmann::json::array());
  refused("/clocks/0/path", 7);
  refused("/legend", {{"a", 1}});
  CHECK_THROWS_AS(timeline_from_json({}), lab::UsageError);
  CHECK_THROWS_AS(timeline_from_json(nlohmann::json::array()), lab::UsageError);
}

TEST_CASE("plot colours: ten different ones, wrapping around; text stands out on each") {
  for (int i = 0; i < kNumColours; ++i) {
    CHECK(colour(i).rgb == colour(i + kNumColours).rgb);
    CHECK(colour(i).rgb == colour(i - kNumColours).rgb);
    for (int j = 0; j < i; ++j) CHECK(colour(i).rgb != colour(j).rgb);
  }
  CHECK(text_colour_on(colour(8)).rgb == kWhite.rgb);
  CHECK(text_colour_on(colour(9)).rgb == kBlack.rgb);
  CHECK(tint(colour(0), 1).rgb == colour(0).rgb);
  CHECK(tint(colour(0), 0).rgb == kWhite.rgb);
}
