#include "common/pipeline/timeline_diagram.h"

#include <algorithm>

#include "common/pipeline/generators.h"
#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::pipeline;

namespace {

plot::Timeline drawn(const ScheduleOptions& options, bool messages = false, const Costs& costs = {}) {
  const Schedule schedule = make_schedule(options);
  return timeline_diagram(schedule, make_timeline(schedule, costs), messages);
}

const plot::Box& find_box(const plot::Timeline& timeline, std::string_view name) {
  const std::vector<plot::Box>& boxes = timeline.clocks.at(0).boxes;
  const auto found = std::find_if(boxes.begin(), boxes.end(), [&](const plot::Box& box) { return box.name == name; });
  REQUIRE(found != boxes.end());
  return *found;
}

}  // namespace

TEST_CASE("pipeline timeline diagram: an idle row for each rank, and a box for each computation in its place") {
  const plot::Timeline timeline = drawn({"1f1b", 2, 3});
  CHECK(timeline.clocks.at(0).boxes.size() == 12);
  CHECK(timeline.grey_rows);
  CHECK(timeline.num_ranks == 2);
  const plot::Box& last = find_box(timeline, "B2");
  CHECK(last.start == 10);
  CHECK(last.end == 12);
  CHECK(last.rank == 0);
  CHECK(timeline.title == "1f1b: 2 ranks, 3 micro-batches, makespan 12 s, bubble 25.0 %");
  CHECK(timeline.clocks[0].arrows.empty());
}

TEST_CASE("pipeline timeline diagram: a micro-batch keeps its colour, strong in the backward pass") {
  const plot::Timeline timeline = drawn({"zb-h1", 1, 2});
  const plot::Colour forward = find_box(timeline, "F1").fill;
  const plot::Colour input = find_box(timeline, "I1").fill;
  const plot::Colour weight = find_box(timeline, "W1").fill;
  CHECK(input.rgb == plot::colour(1).rgb);
  CHECK(forward.rgb != input.rgb);
  CHECK(weight.rgb != input.rgb);
  CHECK(weight.rgb != forward.rgb);
  CHECK(find_box(timeline, "F0").fill.rgb != forward.rgb);
  CHECK(timeline.legend.size() == 4);
}

TEST_CASE("pipeline timeline diagram: an arrow for each message, from row to row") {
  Costs costs;
  costs.latency_seconds = 0.25;
  const plot::Timeline timeline = drawn({"afab", 2, 1}, true, costs);
  REQUIRE(timeline.clocks.at(0).arrows.size() == 2);
  const plot::Arrow& there = timeline.clocks[0].arrows[0];
  CHECK(there.start == 1);
  CHECK(there.end == 1.25);
  CHECK(there.src_rank == 0);
  CHECK(there.dst_rank == 1);
  CHECK(there.title == "output of micro-batch 0 from rank 0 to rank 1");
  const plot::Arrow& back = timeline.clocks[0].arrows[1];
  CHECK(back.start == 4.25);
  CHECK(back.end == 4.5);
  CHECK(back.src_rank == 1);
  CHECK(back.dst_rank == 0);
  CHECK(back.title == "gradient of micro-batch 0 from rank 1 to rank 0");
  CHECK(timeline.legend.at(3).text == "send_forward to recv_forward");
  CHECK(timeline.legend.at(3).fill.rgb == there.colour.rgb);
  CHECK(timeline.legend.at(4).text == "send_backward to recv_backward");
  CHECK(timeline.legend.at(4).fill.rgb == back.colour.rgb);
}

TEST_CASE("pipeline timeline diagram: any size can be drawn, and so can a timeline without length") {
  for (const std::string& kind : schedule_kinds()) {
    for (const int p : {1, 2, 64}) {
      CHECK(!plot::to_svg(drawn({kind, p, 64, kind == "interleaved" ? 2 : 1}, true)).empty());
    }
  }
  Costs costs;
  costs.forward_seconds = costs.backward_input_seconds = costs.backward_weight_seconds = {0};
  CHECK(!plot::to_svg(drawn({"1f1b", 2, 2}, true, costs)).empty());
}
