#include "common/comm/trace/trace_timeline.h"

#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using testing::contains;

TraceEvent message_end(Direction direction, int rank, int peer, double start, double end, std::uint64_t sequence = 0) {
  TraceEvent event;
  event.rank = rank;
  event.direction = direction;
  event.peer = peer;
  event.sequence = sequence;
  event.bytes = 4096;
  event.operation = direction == Direction::kSend ? "send" : "recv";
  event.start_seconds = start;
  event.end_seconds = end;
  event.model_arrived = 0;
  return event;
}

TraceEvent sent(int src_rank, int dst_rank, double start, double end, std::uint64_t sequence = 0) {
  return message_end(Direction::kSend, src_rank, dst_rank, start, end, sequence);
}

TraceEvent received(int src_rank, int dst_rank, double start, double end, std::uint64_t sequence = 0) {
  return message_end(Direction::kRecv, dst_rank, src_rank, start, end, sequence);
}

TraceEvent busy(TraceKind kind, int rank, const std::string& operation, double start, double end) {
  TraceEvent event;
  event.rank = rank;
  event.kind = kind;
  event.peer = -1;
  event.operation = operation;
  event.start_seconds = start;
  event.end_seconds = end;
  return event;
}

TraceEvent computed(int rank, const std::string& operation, std::uint64_t turn, double start, double end) {
  TraceEvent event = busy(TraceKind::kComputation, rank, operation, start, end);
  event.sequence = turn;
  return event;
}

plot::Clock drawn(const std::vector<TraceEvent>& events) {
  return trace_timeline(events).clocks.at(0);
}

/// Distance from white.
int strength(plot::Colour colour) {
  int sum = 0;
  for (const int shift : {0, 8, 16}) sum += 255 - static_cast<int>(colour.rgb >> shift & 0xFF);
  return sum;
}

TEST_CASE("trace timeline: an arrow from when both ends were posted to when the receiver had it") {
  for (const bool late_receiver : {false, true}) {
    CAPTURE(late_receiver);
    const double send_start = late_receiver ? 10 : 11;
    const double recv_start = late_receiver ? 12 : 10;
    // In either order: a trace holds one rank's events after the other's.
    for (const bool receiver_first : {false, true}) {
      std::vector<TraceEvent> events = {sent(0, 2, send_start, 15), received(0, 2, recv_start, 14)};
      if (receiver_first) std::swap(events[0], events[1]);
      const plot::Timeline timeline = trace_timeline(events);
      CHECK(timeline.num_ranks == 3);
      CHECK(timeline.title == "3 ranks: 1 message of 4 KiB");
      CHECK(timeline.clocks.size() == 1);
      const plot::Clock& clock = timeline.clocks[0];
      REQUIRE(clock.arrows.size() == 1);
      CHECK(clock.arrows[0].start == doctest::Approx(std::max(send_start, recv_start) - 10));
      CHECK(clock.arrows[0].src_rank == 0);
      CHECK(clock.arrows[0].end == doctest::Approx(4));
      CHECK(clock.arrows[0].dst_rank == 2);
      CHECK(clock.arrows[0].label == "4 KiB");
      CHECK_FALSE(clock.arrows[0].dashed);
      CHECK(clock.boxes.empty());
    }
  }
}

TEST_CASE("trace timeline: an arrow ends when its message was there, however late the receiver waited for it") {
  // Posted by both at 1, waited for by the receiver at 9.
  std::vector<TraceEvent> events = {sent(0, 1, 1, 3), received(0, 1, 1, 9)};
  CHECK(drawn(events).arrows.at(0).end == doctest::Approx(2));  // only the sender's wait is known
  for (TraceEvent& event : events) event.arrived_seconds = 2;
  CHECK(drawn(events).arrows.at(0).end == doctest::Approx(1));
  for (TraceEvent& event : events) event.arrived_seconds = 0.5;  // before both were posted
  CHECK(drawn(events).arrows.at(0).end == drawn(events).arrows.at(0).start);
}

TEST_CASE("trace timeline: where one end is missing, the other's own times count") {
  const plot::Clock clock = drawn({sent(0, 1, 1, 3), received(3, 2, 2, 6)});
  REQUIRE(clock.arrows.size() == 2);
  CHECK(clock.arrows[0].start == 0);
  CHECK(clock.arrows[0].end == 2);
  CHECK(clock.arrows[0].dst_rank == 1);
  CHECK(clock.arrows[1].start == 1);
  CHECK(clock.arrows[1].end == 5);
  CHECK(clock.arrows[1].src_rank == 3);
  CHECK(clock.arrows[1].dst_rank == 2);
  CHECK(contains(clock.arrows[1].title, "recv from rank 3 to rank 2: 4096 B, one end only"));
}

TEST_CASE("trace timeline: messages are told apart by channel and by their place in it") {
  std::vector<TraceEvent> events;
  const auto add = [&](int src_rank, int dst_rank, std::uint32_t group, int tag, std::uint64_t sequence) {
    const double start = static_cast<double>(events.size());
    for (TraceEvent event : {sent(src_rank, dst_rank, start, start + 1, sequence),
                             received(src_rank, dst_rank, start, start + 1, sequence)}) {
      event.group = group;
      event.tag = tag;
      events.push_back(event);
    }
  };
  add(0, 1, 0, 0, 0);
  add(0, 1, 0, 0, 1);
  add(0, 1, 0, 5, 0);
  add(0, 1, 7, 0, 0);
  add(1, 0, 0, 0, 0);
  CHECK(drawn(events).arrows.size() == 5);
}

TEST_CASE("trace timeline: computations are boxes, of one colour per turn, of one shade per kind") {
  const plot::Timeline timeline =
      trace_timeline({computed(0, "F0", 0, 0, 1), computed(0, "B0", 0, 4, 6), computed(1, "F0", 0, 1, 2),
                      computed(1, "F1", 1, 2, 3), computed(1, "W0", 0, 6, 7)});
  REQUIRE(timeline.clocks.at(0).boxes.size() == 5);  // by their starts: F0 F0 F1 B0 W0
  const std::vector<plot::Box>& boxes = timeline.clocks[0].boxes;
  CHECK(boxes[0].name == "F0");
  CHECK(boxes[0].rank == 0);
  CHECK(boxes[1].rank == 1);
  CHECK(boxes[1].start == 1);
  CHECK(boxes[1].end == 2);
  CHECK(boxes[0].fill.rgb == boxes[1].fill.rgb);
  CHECK(boxes[0].fill.rgb != boxes[2].fill.rgb);
  CHECK(boxes[3].fill.rgb == plot::colour(0).rgb);
  CHECK(strength(boxes[0].fill) < strength(boxes[4].fill));
  CHECK(strength(boxes[4].fill) < strength(boxes[3].fill));
  CHECK(timeline.title == "2 ranks: 5 computations");
  CHECK(timeline.clocks[0].title == "time since the first event: makespan 7 s");
  std::vector<std::string> legend;
  for (const plot::LegendEntry& entry : timeline.legend) legend.push_back(entry.text);
  CHECK(legend == std::vector<std::string>{"F: forward", "B: backward", "W: backward, weights", "micro-batch 0",
                                           "micro-batch 1"});
}

TEST_CASE("trace timeline: the first kind is the first to begin, whichever rank it is on") {
  const plot::Clock clock = drawn({computed(0, "late", 0, 5, 6), computed(1, "early", 0, 0, 1)});
  REQUIRE(clock.boxes.size() == 2);
  CHECK(clock.boxes[0].name == "early");
  CHECK(strength(clock.boxes[0].fill) < strength(clock.boxes[1].fill));
}

TEST_CASE("trace timeline: a built-in collective is a grey box with its name") {
  const plot::Clock clock =
      drawn({busy(TraceKind::kCollective, 0, "all_reduce", 1, 2), busy(TraceKind::kCollective, 1, "all_reduce", 0, 2)});
  REQUIRE(clock.boxes.size() == 2);
  CHECK(clock.boxes[0].name == "all_reduce");
  CHECK(clock.boxes[0].start == 0);
  CHECK(clock.boxes[0].end == 2);
  const std::uint32_t rgb = clock.boxes[0].fill.rgb;
  CHECK((rgb & 0xFF) == (rgb >> 16));
  CHECK((rgb & 0xFF) == (rgb >> 8 & 0xFF));
}

TEST_CASE("trace timeline: the payload's label instead of its size; no labels in a crowd, nor between computations") {
  std::vector<TraceEvent> events = {sent(0, 1, 0, 1), sent(0, 1, 1, 2, 1)};
  CHECK(contains(trace_timeline(events).title, "2 messages of 4 KiB"));
  events[0].label = "chunk 3";
  events[1].bytes = 8;
  CHECK(trace_timeline(events).title == "2 ranks: 2 messages");
  CHECK(drawn(events).arrows.at(0).label == "chunk 3");
  CHECK(drawn(events).arrows.at(1).label == "8 B");
  events.push_back(computed(0, "F0", 0, 0, 1));
  CHECK(drawn(events).arrows.at(0).label.empty());
  events.pop_back();
  for (std::uint64_t i = 2; i < 100; ++i) events.push_back(sent(0, 1, static_cast<double>(i), 200, i));
  for (const plot::Arrow& arrow : drawn(events).arrows) CHECK(arrow.label.empty());
}

TEST_CASE("trace timeline: of a long trace the beginning, and the title says so") {
  for (const bool all_at_once : {false, true}) {
    std::vector<TraceEvent> events;
    for (int i = 0; i < 6000; ++i) {
      const double start = all_at_once ? 0 : i;
      events.push_back(sent(0, 1, start, start + 1, static_cast<std::uint64_t>(i)));
      events.push_back(computed(0, "F", 0, start, start + 1));
    }
    const plot::Timeline timeline = trace_timeline(events);
    CHECK(timeline.clocks.at(0).arrows.size() == 5000);
    CHECK(timeline.clocks.at(0).boxes.size() == 5000);
    CHECK(timeline.title == "2 ranks: 6000 messages of 4 KiB, 6000 computations; 2000 later ones are not drawn");
    if (!all_at_once) CHECK(timeline.clocks[0].arrows.back().start == 4999);
  }
}

TEST_CASE("trace timeline: nothing, an instant and a thousand ranks can be drawn") {
  for (const std::vector<TraceEvent>& events :
       {std::vector<TraceEvent>{}, {sent(0, 1, 5, 5)}, {sent(1023, 0, 5, 5)}, {sent(4095, 0, 5, 5)}})
    CHECK_NOTHROW(plot::to_svg(trace_timeline(events)));
  CHECK(trace_timeline({}).title == "0 ranks: no message, and no computation that takes time");
}

}  // namespace
}  // namespace lab::comm
