#include "common/comm/trace/trace_diagram.h"

#include <cmath>

#include "common/testing/test.h"

namespace lab::comm {
namespace {

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

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> labels(const std::vector<plot::Tick>& ticks) {
  std::vector<std::string> found;
  for (const plot::Tick& tick : ticks) found.push_back(tick.label);
  return found;
}

/// Distance from white.
int strength(plot::Colour colour) {
  int sum = 0;
  for (const int shift : {0, 8, 16}) sum += 255 - static_cast<int>(colour.rgb >> shift & 0xFF);
  return sum;
}

TEST_CASE("trace diagram: an arrow from when both ends were posted to when the receiver had it") {
  for (const bool late_receiver : {false, true}) {
    CAPTURE(late_receiver);
    const double send_start = late_receiver ? 10 : 11;
    const double recv_start = late_receiver ? 12 : 10;
    // In either order: a trace holds one rank's events after the other's.
    for (const bool receiver_first : {false, true}) {
      std::vector<TraceEvent> events = {sent(0, 2, send_start, 15), received(0, 2, recv_start, 14)};
      if (receiver_first) std::swap(events[0], events[1]);
      const plot::Diagram diagram = trace_diagram(events);
      REQUIRE(diagram.arrows.size() == 1);
      CHECK(diagram.arrows[0].x0 == doctest::Approx(std::max(send_start, recv_start) - 10));
      CHECK(diagram.arrows[0].y0 == 0);
      CHECK(diagram.arrows[0].x1 == doctest::Approx(4));
      CHECK(diagram.arrows[0].y1 == 2);
      CHECK(diagram.arrows[0].label == "4 KiB");
      CHECK(diagram.boxes.empty());
      CHECK(contains(diagram.title, "3 ranks: 1 message"));
    }
  }
}

TEST_CASE("trace diagram: an arrow ends when its message was there, however late the receiver waited for it") {
  // Posted by both at 1, waited for by the receiver at 9.
  std::vector<TraceEvent> events = {sent(0, 1, 1, 3), received(0, 1, 1, 9)};
  CHECK(trace_diagram(events).arrows.at(0).x1 == doctest::Approx(2));  // only the sender's wait is known
  for (TraceEvent& event : events) event.arrived_seconds = 2;
  CHECK(trace_diagram(events).arrows.at(0).x1 == doctest::Approx(1));
}

TEST_CASE("trace diagram: the title has the makespan, of a long trace's left out part, too") {
  CHECK(contains(trace_diagram({sent(0, 1, 1, 3), received(0, 1, 1, 3.5)}).title, "; makespan 2 s"));
  CHECK(contains(trace_diagram({computed(0, "F0", 0, 0.001, 0.0035)}).title, "; makespan 2.5 ms"));
  CHECK_FALSE(contains(trace_diagram({}).title, "makespan"));
}

TEST_CASE("trace diagram: where one end is missing, the other's own times count") {
  const plot::Diagram diagram = trace_diagram({sent(0, 1, 1, 3), received(3, 2, 2, 6)});
  REQUIRE(diagram.arrows.size() == 2);
  CHECK(diagram.arrows[0].x0 == 0);
  CHECK(diagram.arrows[0].x1 == 2);
  CHECK(diagram.arrows[0].y1 == 1);
  CHECK(diagram.arrows[1].x0 == 1);
  CHECK(diagram.arrows[1].x1 == 5);
  CHECK(diagram.arrows[1].y0 == 3);
  CHECK(diagram.arrows[1].y1 == 2);
}

TEST_CASE("trace diagram: messages are told apart by channel and by their place in it") {
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
  CHECK(trace_diagram(events).arrows.size() == 5);
}

TEST_CASE("trace diagram: a row per rank, rank 0 on top, the silent ones between, too") {
  const plot::Diagram diagram = trace_diagram({sent(1, 3, 0, 1)});
  CHECK(labels(diagram.y.ticks) == std::vector<std::string>{"rank 0", "rank 1", "rank 2", "rank 3"});
  CHECK(diagram.y.ticks[3].at == 3);
  CHECK(diagram.y_down);
}

TEST_CASE("trace diagram: the unit suits the length, counted from the first event") {
  struct Example {
    double length;
    const char* unit;
    double seconds;
  };
  for (const Example& example : {Example{30, ", s", 1}, {1, ", s", 1}, {0.25, ", ms", 1e-3}, {2e-5, ", µs", 1e-6}}) {
    CAPTURE(example.length);
    const plot::Diagram diagram = trace_diagram({computed(0, "F0", 0, 1000, 1000 + example.length)});
    CHECK(contains(diagram.x.title, example.unit));
    REQUIRE(diagram.boxes.size() == 1);
    CHECK(diagram.boxes[0].x0 == 0);
    CHECK(diagram.boxes[0].x1 == doctest::Approx(example.length / example.seconds));
    CHECK(diagram.x.ticks.size() > 2);
  }
}

TEST_CASE("trace diagram: computations are boxes, of one colour per turn, of one shade per kind") {
  const plot::Diagram diagram =
      trace_diagram({computed(0, "F0", 0, 0, 1), computed(0, "B0", 0, 4, 6), computed(1, "F0", 0, 1, 2),
                     computed(1, "F1", 1, 2, 3), computed(1, "W0", 0, 6, 7)});
  REQUIRE(diagram.boxes.size() == 5);  // by their starts: F0 F0 F1 B0 W0
  const plot::Box& forward = diagram.boxes[0];
  const plot::Box& elsewhere = diagram.boxes[1];
  const plot::Box& other_turn = diagram.boxes[2];
  const plot::Box& backward = diagram.boxes[3];
  const plot::Box& weight = diagram.boxes[4];
  CHECK(forward.text == "F0");
  CHECK((forward.y0 + forward.y1) / 2 == doctest::Approx(0));
  CHECK((elsewhere.y0 + elsewhere.y1) / 2 == doctest::Approx(1));
  CHECK(elsewhere.x0 == 1);
  CHECK(elsewhere.x1 == 2);
  CHECK(forward.fill.rgb == elsewhere.fill.rgb);
  CHECK(forward.fill.rgb != other_turn.fill.rgb);
  CHECK(backward.fill.rgb == plot::colour(0).rgb);
  CHECK(strength(forward.fill) < strength(weight.fill));
  CHECK(strength(weight.fill) < strength(backward.fill));
  CHECK(contains(diagram.title, "2 ranks: 5 computations"));
  std::vector<std::string> legend;
  for (const plot::LegendEntry& entry : diagram.legend) legend.push_back(entry.text);
  CHECK(legend == std::vector<std::string>{"F: forward", "B: backward", "W: backward, weights", "micro-batch 0",
                                           "micro-batch 1"});
}

TEST_CASE("trace diagram: the first kind is the first to begin, whichever rank it is on") {
  const plot::Diagram diagram = trace_diagram({computed(0, "late", 0, 5, 6), computed(1, "early", 0, 0, 1)});
  REQUIRE(diagram.boxes.size() == 2);
  CHECK(diagram.boxes[0].text == "early");
  CHECK(strength(diagram.boxes[0].fill) < strength(diagram.boxes[1].fill));
}

TEST_CASE("trace diagram: an arrow between rows of computations runs from edge to edge") {
  const plot::Diagram diagram = trace_diagram(
      {computed(0, "F0", 0, 0, 1), sent(0, 1, 1, 2), received(0, 1, 0, 2), sent(1, 0, 3, 4), received(1, 0, 1, 4)});
  REQUIRE(diagram.boxes.size() == 1);
  REQUIRE(diagram.arrows.size() == 2);
  CHECK(diagram.arrows[0].y0 == doctest::Approx(diagram.boxes[0].y1));
  CHECK(diagram.arrows[0].y1 == doctest::Approx(1 + diagram.boxes[0].y0));
  CHECK(diagram.arrows[1].y0 == doctest::Approx(1 + diagram.boxes[0].y0));
  CHECK(diagram.arrows[1].y1 == doctest::Approx(diagram.boxes[0].y1));
}

TEST_CASE("trace diagram: a built-in collective is a grey box with its name") {
  std::vector<TraceEvent> events = {busy(TraceKind::kCollective, 0, "all_reduce", 1, 2),
                                    busy(TraceKind::kCollective, 1, "all_reduce", 0, 2)};
  const plot::Diagram diagram = trace_diagram(events);
  REQUIRE(diagram.boxes.size() == 2);
  CHECK(diagram.boxes[0].text == "all\nreduce");
  CHECK(diagram.boxes[0].x0 == 0);
  CHECK(diagram.boxes[0].x1 == 2);
  const std::uint32_t rgb = diagram.boxes[0].fill.rgb;
  CHECK((rgb & 0xFF) == (rgb >> 16));
  CHECK((rgb & 0xFF) == (rgb >> 8 & 0xFF));
  CHECK(diagram.legend.empty());

  // Inside a computation it does not cover the computation's text.
  events.push_back(computed(0, "F0", 0, 0, 1.5));
  events.push_back(busy(TraceKind::kCollective, 0, "barrier", 2, 3));
  const plot::Diagram both = trace_diagram(events);
  REQUIRE(both.boxes.size() == 4);
  CHECK(both.boxes[2].text == "all_reduce");
  CHECK(both.boxes[2].y0 > 0);
  CHECK(both.boxes[3].text == "barrier");
  CHECK(both.boxes[3].y0 < 0);
}

TEST_CASE("trace diagram: the payload's label instead of its size; no labels in a crowd") {
  std::vector<TraceEvent> events = {sent(0, 1, 0, 1)};
  events[0].label = "chunk 3";
  CHECK(trace_diagram(events).arrows.at(0).label == "chunk 3");
  for (std::uint64_t i = 1; i < 100; ++i) events.push_back(sent(0, 1, static_cast<double>(i), 200, i));
  for (const plot::Arrow& arrow : trace_diagram(events).arrows) CHECK(arrow.label.empty());
}

TEST_CASE("trace diagram: one size of all messages is in the title; others are only on the arrows") {
  std::vector<TraceEvent> events = {sent(0, 1, 0, 1, 0), sent(0, 1, 1, 2, 1)};
  CHECK(contains(trace_diagram(events).title, "2 messages of 4 KiB"));
  events[1].bytes = 8;
  CHECK(contains(trace_diagram(events).title, "2 messages"));
  CHECK_FALSE(contains(trace_diagram(events).title, "messages of"));
  CHECK(trace_diagram(events).arrows.at(1).label == "8 B");
  events.push_back(computed(0, "F0", 0, 0, 1));  // leaves no room between the rows
  CHECK(trace_diagram(events).arrows.at(1).label.empty());
}

TEST_CASE("trace diagram: heads where they can be told apart") {
  std::vector<TraceEvent> events = {computed(0, "F0", 0, 0, 1), sent(0, 1, 0, 1)};
  CHECK(trace_diagram(events).arrows.at(0).head);
  for (std::uint64_t i = 1; i < 1000; ++i) events.push_back(sent(0, 1, static_cast<double>(i), 2000, i));
  CHECK_FALSE(trace_diagram(events).arrows.at(0).head);
}

TEST_CASE("trace diagram: of a long trace the beginning, and the title says so") {
  constexpr int kMany = 30000;
  for (const bool with_computations : {false, true}) {
    for (const bool all_at_once : {false, true}) {
      std::vector<TraceEvent> events;
      for (int i = 0; i < kMany; ++i) {
        const double start = all_at_once ? 0 : i;
        events.push_back(sent(0, 1, start, start + 1, static_cast<std::uint64_t>(i)));
        if (with_computations) events.push_back(computed(0, "F", 0, start, start + 1));
      }
      const plot::Diagram diagram = trace_diagram(events);
      const std::size_t num_drawn = diagram.arrows.size() + diagram.boxes.size();
      CHECK(num_drawn == (with_computations ? 20000 : 300));
      CHECK(contains(diagram.title, "its beginning: "));
      CHECK(contains(diagram.title, "; " + std::to_string(events.size() - num_drawn) + " more left out"));
      if (all_at_once) continue;
      if (with_computations) CHECK(diagram.arrows.size() == diagram.boxes.size());
      CHECK(diagram.arrows.back().x0 == static_cast<double>(diagram.arrows.size() - 1));
      CHECK(diagram.x.range->high < kMany / 2);
    }
  }
}

TEST_CASE("trace diagram: nothing, an instant and a thousand ranks can be drawn") {
  TraceEvent far = sent(1023, 0, 5, 5);
  for (const std::vector<TraceEvent>& events : {std::vector<TraceEvent>{}, {sent(0, 1, 5, 5)}, {far}}) {
    CHECK_NOTHROW(plot::diagram_script(trace_diagram(events)));
  }
  const plot::Diagram nothing = trace_diagram({});
  REQUIRE(nothing.texts.size() == 1);
  CHECK(nothing.texts[0].text == "nothing was traced");
  far.rank = 4095;
  CHECK_NOTHROW(plot::diagram_script(trace_diagram({far})));
}

}  // namespace
}  // namespace lab::comm
