#include "common/comm/trace/rank_trace.h"

#include "common/comm/trace/trace_timeline.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using testing::contains;

constexpr std::int64_t kTick = 1'000'000;  // of the test's times: a microsecond, in picoseconds

/// A message of rank 0 (a send) or 1 (its receive), posted and ended at these times; it had to be waited for so long.
TraceEvent message(int rank, std::int64_t start, std::int64_t end, std::int64_t waited, bool arrives = true) {
  TraceEvent event;
  event.direction = rank == 0 ? Direction::kSend : Direction::kRecv;
  event.peer = 1 - rank;
  event.rank = rank;
  event.operation = "message";
  event.where = "x.cpp:7";
  event.bytes = 8;
  event.model_start = start * kTick;
  event.model_posted = event.model_start + (rank == 0 ? 2 * kTick : 0);
  event.model_end = end * kTick;
  event.model_waited = waited * kTick;
  event.model_arrived = arrives ? 22 * kTick : -1;
  return event;
}

/// Begin and end of each computation, in microseconds.
std::vector<std::pair<int, int>> computed(const RankTrace& trace, int rank) {
  std::vector<std::pair<int, int>> found;
  for (const TraceEvent& event : computations(trace, rank)) {
    CHECK(event.kind == TraceKind::kComputation);
    CHECK(event.rank == rank);
    found.emplace_back(event.model_start / kTick, event.model_end / kTick);
  }
  return found;
}

TEST_CASE("what a rank computes is the time that no message, wait or collective explains") {
  using Spans = std::vector<std::pair<int, int>>;
  CHECK(computed({{}, 5 * kTick}, 3) == Spans{{0, 5}});
  CHECK(computed({}, 0).empty());
  // An isend at 5, work until 15, a wait of 7, work until 30; a receive also has an overhead at its end.
  CHECK(computed({{message(0, 5, 22, 7)}, 30 * kTick}, 0) == Spans{{0, 5}, {7, 15}, {22, 30}});
  CHECK(computed({{message(1, 5, 24, 17)}, 30 * kTick}, 1) == Spans{{0, 5}, {24, 30}});
  CHECK(computed({{message(1, 5, 30, 0)}, 30 * kTick}, 1) == Spans{{0, 28}});
  // One that is waited for in vain keeps the rank from then on; of a trace that is cut, the rest is unknown.
  CHECK(computed({{message(0, 5, 9, 0, false)}, 9 * kTick}, 0) == Spans{{0, 5}, {7, 9}});
  CHECK(computed({{message(0, 5, 22, 7)}, 30 * kTick, true}, 0) == Spans{{0, 5}, {7, 15}});
  TraceEvent collective;
  collective.kind = TraceKind::kCollective;
  collective.model_start = 3 * kTick;
  collective.model_end = 9 * kTick;
  CHECK(computed({{collective}, 10 * kTick}, 0) == Spans{{0, 3}, {9, 10}});
}

TEST_CASE("a small timeline has a row for each rank, also for those that do nothing or only compute") {
  const plot::Timeline timeline = trace_timeline(std::vector<RankTrace>{{{}, 5 * kTick}, {}, {}, {{}, kTick}}, true);
  CHECK(timeline.num_ranks == 4);
  CHECK(timeline.title == "4 ranks: 2 computations");
  REQUIRE(timeline.clocks.size() == 1);
  const plot::Clock& clock = timeline.clocks[0];
  CHECK(contains(clock.title, "model time: makespan 5 µs"));
  REQUIRE(clock.boxes.size() == 2);
  CHECK(clock.boxes[0].rank == 0);
  CHECK(clock.boxes[0].end == 5e-6);
  CHECK(clock.boxes[1].rank == 3);
  CHECK(clock.boxes[1].end == 1e-6);
  CHECK(clock.boxes[1].title == "rank 3: computes");
  CHECK(clock.arrows.empty());
  CHECK(timeline.legend.empty());
  CHECK(trace_timeline(std::vector<RankTrace>{}, true).num_ranks == 0);
}

TEST_CASE("a message is lost if all who waited for it did so in vain, and says what became of it") {
  const auto arrow = [](const RankTrace& sender, const RankTrace& receiver) {
    const plot::Timeline timeline = trace_timeline({sender, receiver}, false);
    CHECK(timeline.clocks.at(0).path.empty());
    return timeline.clocks.at(0).arrows.at(0);
  };
  const TraceEvent sent = message(0, 0, 22, 20), in_vain = message(0, 0, 2, 0, false);
  const TraceEvent received = message(1, 0, 24, 22), awaited = message(1, 1, 1, 0, false);
  CHECK(arrow({{sent}}, {{received}}).title == "message from rank 0 to rank 1: 8 B, x.cpp:7");
  CHECK(arrow({{sent}}, {{received}}).end == 22e-6);
  CHECK_FALSE(arrow({{in_vain}}, {{received}}).dashed);
  CHECK(contains(arrow({{sent}}, {}).title, "one end only"));
  CHECK(arrow({{in_vain}}, {}).dashed);
  CHECK(contains(arrow({{in_vain}}, {}).title, "never received"));
  CHECK(arrow({{in_vain}}, {}).end > arrow({{in_vain}}, {}).start);
  CHECK(contains(arrow({}, {{awaited}}).title, "never sent"));
  CHECK(contains(arrow({{in_vain}}, {{awaited}}).title, "never completed"));
}

TEST_CASE("of too many events the earliest are shown, without a critical path") {
  RankTrace many;
  for (int i = 0; i < 400; ++i) {
    many.events.push_back(message(0, 10 * i, 10 * i + 5, 0));
    many.events.back().sequence = static_cast<std::uint64_t>(i);
  }
  const plot::Timeline timeline = trace_timeline({many, {}}, true);
  CHECK(timeline.clocks.at(0).arrows.size() == 300);
  CHECK(contains(timeline.title, "later ones are not drawn"));
  CHECK(timeline.clocks.at(0).path.empty());
  RankTrace cut;
  cut.is_cut = true;
  cut.events = {message(0, 0, 22, 20)};
  CHECK(contains(trace_timeline({cut, {}}, true).title, "; later ones are not drawn"));
  CHECK_FALSE(trace_timeline({{{message(0, 0, 22, 20)}}, {{message(1, 0, 24, 22)}}}, true).clocks.at(0).path.empty());
}

}  // namespace
}  // namespace lab::comm
