#include "common/pipeline/timeline_diagram.h"

#include <algorithm>
#include <cmath>

#include "common/pipeline/generators.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::pipeline;

namespace {

using lab::testing::contains;

plot::Diagram drawn(const ScheduleOptions& options, const TimelineLook& look = {}, const Costs& costs = {}) {
  const Schedule schedule = make_schedule(options);
  return timeline_diagram(schedule, make_timeline(schedule, costs), look);
}

TimelineLook look_with_messages() {
  TimelineLook look;
  look.messages = true;
  return look;
}

const plot::Box& box_of(const plot::Diagram& diagram, std::string_view text) {
  return *std::find_if(diagram.boxes.begin(), diagram.boxes.end(),
                       [&](const plot::Box& box) { return box.text == text; });
}

bool has_text(const plot::Diagram& diagram, const std::string& text) {
  return std::any_of(diagram.texts.begin(), diagram.texts.end(),
                     [&](const plot::Text& each) { return each.text == text; });
}

}  // namespace

TEST_CASE("pipeline timeline diagram: an idle row for each rank, and a box for each computation in its place") {
  const plot::Diagram diagram = drawn({"1f1b", 2, 3});
  CHECK(diagram.boxes.size() == 2 + 12);
  CHECK(diagram.boxes[1].x0 == 0);
  CHECK(diagram.boxes[1].x1 == 12);
  const plot::Box& last = box_of(diagram, "B2");
  CHECK(last.x0 == 10);
  CHECK(last.x1 == 12);
  CHECK(last.y0 < 0.5);
  CHECK(last.y1 > 0.5);
  CHECK(diagram.y_down);
  CHECK(diagram.y.ticks.size() == 2);
  CHECK(diagram.title == "1f1b: 2 ranks, 3 micro-batches, makespan 12, bubble 25.0 %");
  CHECK(diagram.arrows.empty());
}

TEST_CASE("pipeline timeline diagram: a micro-batch keeps its colour, strong in the backward pass") {
  const plot::Diagram diagram = drawn({"zb-h1", 1, 2});
  const plot::Colour forward = box_of(diagram, "F1").fill;
  const plot::Colour input = box_of(diagram, "I1").fill;
  const plot::Colour weight = box_of(diagram, "W1").fill;
  CHECK(input.rgb == plot::colour(1).rgb);
  CHECK(forward.rgb != input.rgb);
  CHECK(weight.rgb != input.rgb);
  CHECK(weight.rgb != forward.rgb);
  CHECK(box_of(diagram, "F0").fill.rgb != forward.rgb);
  CHECK(diagram.legend.size() == 4);
}

TEST_CASE("pipeline timeline diagram: an arrow for each message, from row to row") {
  Costs costs;
  costs.latency_seconds = 0.25;
  const plot::Diagram diagram = drawn({"afab", 2, 1}, look_with_messages(), costs);
  REQUIRE(diagram.arrows.size() == 2);
  const plot::Arrow& there = diagram.arrows[0];
  CHECK(there.x0 == 1);
  CHECK(there.x1 == 1.25);
  CHECK(there.y0 == box_of(diagram, "F0").y1);
  CHECK(there.y1 > there.y0);
  CHECK(there.y1 < 1.5);
  const plot::Arrow& back = diagram.arrows[1];
  CHECK(back.x0 == 4.25);
  CHECK(back.x1 == 4.5);
  CHECK(back.y0 == there.y1);
  CHECK(back.y1 == there.y0);
  CHECK(has_text(diagram, "send_forward"));
  CHECK(has_text(diagram, "recv_backward"));
}

TEST_CASE("pipeline timeline diagram: from the last rank to the first, arrows go round instead of across") {
  const plot::Diagram diagram = drawn({"interleaved", 4, 4, 2}, look_with_messages());
  // 7 hops of 4 micro-batches, twice; those between ranks 3 and 0 have an arrow at either end.
  CHECK(diagram.arrows.size() == 2 * 4 * (6 + 2));
  for (const plot::Arrow& arrow : diagram.arrows) CHECK(std::abs(arrow.y1 - arrow.y0) < 0.5);
  CHECK(contains(diagram.x.title, "between rank 3 and rank 0"));
  CHECK(drawn({"interleaved", 2, 2, 2}, look_with_messages()).x.title == "time");
}

TEST_CASE("pipeline timeline diagram: crowded arrows have neither heads nor labels") {
  const plot::Diagram diagram = drawn({"1f1b", 40, 200}, look_with_messages());
  CHECK(
      std::none_of(diagram.arrows.begin(), diagram.arrows.end(), [](const plot::Arrow& arrow) { return arrow.head; }));
  CHECK(diagram.texts.empty());
}

TEST_CASE("pipeline timeline diagram: the axis has the unit that was asked for") {
  TimelineLook look;
  look.time_unit = "ms";
  look.title = "measured";
  Costs costs;
  costs.forward_seconds = costs.backward_input_seconds = costs.backward_weight_seconds = {0.125};
  const plot::Diagram diagram = drawn({"afab", 1, 1}, look, costs);
  CHECK(diagram.title == "measured");
  CHECK(diagram.x.title == "time [ms]");
  CHECK(diagram.x.range->high == 375);
  CHECK(box_of(diagram, "F0").x1 == 125);
  look.time_unit = "min";
  CHECK(lab::testing::message_of<UsageError>([&] {
          drawn({"afab", 1, 1}, look);
        }) == "unit 'min' of a timeline's axis: expected '', 's', 'ms' or 'us'");
}

TEST_CASE("pipeline timeline diagram: any size can be drawn, and so can a timeline without length") {
  for (const std::string& kind : schedule_kinds()) {
    for (const int p : {1, 2, 64}) {
      const plot::Diagram diagram = drawn({kind, p, 64, kind == "interleaved" ? 2 : 1}, look_with_messages());
      CHECK(!plot::diagram_script(diagram).empty());
    }
  }
  Costs costs;
  costs.forward_seconds = costs.backward_input_seconds = costs.backward_weight_seconds = {0};
  CHECK(!plot::diagram_script(drawn({"1f1b", 2, 2}, look_with_messages(), costs)).empty());
}
