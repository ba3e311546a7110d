#include "common/comm/trace/rank_trace.h"

#include <nlohmann/json.hpp>

#include "common/comm/trace/timeline_json.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using nlohmann::json;
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
  const json timeline = timeline_json(std::vector<RankTrace>{{{}, 5 * kTick}, {}, {}, {{}, kTick}}, true);
  CHECK(timeline.at("ranks") == 4);
  REQUIRE(timeline.at("clocks").size() == 1);
  CHECK(timeline.at("clocks")[0].at("name") == "model time");
  CHECK(timeline.at("clocks")[0].at("boxes") == json({{0, 0.0, 5e-6, "computes"}, {3, 0.0, 1e-6, "computes"}}));
  CHECK(timeline.at("clocks")[0].at("arrows").empty());
  CHECK(timeline.at("left_out") == 0);
  CHECK_FALSE(timeline.at("is_cut"));
  CHECK(timeline_json(std::vector<RankTrace>{}, true).at("ranks") == 0);
}

TEST_CASE("a message is lost if all who waited for it did so in vain, and says what became of it") {
  const auto arrows = [](const RankTrace& sender, const RankTrace& receiver) {
    const json timeline = timeline_json({sender, receiver}, false);
    CHECK(timeline.at("clocks")[0].at("path").empty());
    return timeline.at("clocks")[0].at("arrows");
  };
  const TraceEvent sent = message(0, 0, 22, 20), in_vain = message(0, 0, 2, 0, false);
  const TraceEvent received = message(1, 0, 24, 22), awaited = message(1, 1, 1, 0, false);
  CHECK(arrows({{sent}}, {{received}})[0] ==
        json({0, 1, 0.0, 22e-6, "message from rank 0 to rank 1: 8 B, x.cpp:7", false}));
  CHECK(arrows({{in_vain}}, {{received}})[0][5] == false);
  CHECK(contains(arrows({{sent}}, {})[0][4].get<std::string>(), "one end only"));
  const json unheard = arrows({{in_vain}}, {});
  CHECK(unheard[0][5] == true);
  CHECK(contains(unheard[0][4].get<std::string>(), "never received"));
  CHECK(unheard[0][3] > unheard[0][2]);
  CHECK(contains(arrows({}, {{awaited}})[0][4].get<std::string>(), "never sent"));
  CHECK(contains(arrows({{in_vain}}, {{awaited}})[0][4].get<std::string>(), "never completed"));
}

TEST_CASE("of too many events the earliest are shown, without a critical path") {
  RankTrace many;
  for (int i = 0; i < 400; ++i) {
    many.events.push_back(message(0, 10 * i, 10 * i + 5, 0));
    many.events.back().sequence = static_cast<std::uint64_t>(i);
  }
  const json timeline = timeline_json({many, {}}, true);
  CHECK(timeline.at("clocks")[0].at("arrows").size() == 300);
  CHECK(timeline.at("left_out") > 100);
  CHECK(timeline.at("clocks")[0].at("path").empty());
  CHECK(timeline.dump().size() < 60000);
  RankTrace cut;
  cut.is_cut = true;
  CHECK(timeline_json({cut, {}}, true).at("is_cut") == true);
  CHECK_FALSE(
      timeline_json({{{message(0, 0, 22, 20)}}, {{message(1, 0, 24, 22)}}}, true).at("clocks")[0].at("path").empty());
}

}  // namespace
}  // namespace lab::comm
