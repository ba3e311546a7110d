#include "common/comm/trace/timeline_json.h"

#include <nlohmann/json.hpp>

#include "common/comm/messages/endpoint_of.h"
#include "common/launch/run_ranks.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

std::vector<TraceEvent> traced(int num_ranks, int num_messages) {
  launch::WorldSpec world;
  world.num_ranks = num_ranks;
  world.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(world, [&](Communicator& comm) {
    for (int i = 0; i < num_messages; ++i) {
      if (comm.rank() == 0) comm.point_to_point().send(at::ones({256}), 1);
      if (comm.rank() == 1) comm.point_to_point().recv(at::empty({256}), 0);
    }
    return TensorMap();
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks)
    events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  return events;
}

TEST_CASE("a timeline has each message once on each clock, and the critical path in model time") {
  const nlohmann::json timeline = timeline_json(traced(3, 2));
  CHECK(timeline.at("ranks") == 2);  // rank 2 did nothing
  CHECK(timeline.at("left_out") == 0);
  REQUIRE(timeline.at("clocks").size() == 2);
  for (const nlohmann::json& clock : timeline.at("clocks")) {
    INFO(clock.at("name"));
    REQUIRE(clock.at("arrows").size() == 2);
    CHECK(clock.at("boxes").empty());
    const nlohmann::json& first = clock.at("arrows").at(0);
    CHECK(first.at(0) == 0);
    CHECK(first.at(1) == 1);
    CHECK(first.at(2) <= first.at(3));
    CHECK(first.at(2) <= clock.at("arrows").at(1).at(2));
    CHECK(first.at(4).get<std::string>().find("from rank 0 to rank 1: 1024 B") != std::string::npos);
  }
  const nlohmann::json& model = timeline.at("clocks").at(0);
  // Of a message of n bytes: overhead at both ends, latency, n / bandwidth; see model_time.md.
  CHECK(model.at("name") == "model time");
  CHECK(model.at("arrows").at(0).at(3).get<double>() == doctest::Approx(2e-6 + 20e-6 + 1024 * 0.5e-9));
  REQUIRE_FALSE(model.at("path").empty());
  CHECK(model.at("path").at(0).at(2) == 0);
  CHECK(timeline.at("clocks").at(1).at("path").empty());
}

TEST_CASE("a timeline tells collectives from computations, and where the next check begins") {
  TraceEvent sum, forward;
  sum.kind = TraceKind::kCollective;
  sum.operation = "all_reduce";
  sum.model_end = 3'000'000;
  forward.kind = TraceKind::kComputation;
  forward.operation = "F";
  forward.model_end = 1'000'000;
  forward.model_period = 1;
  const nlohmann::json model = timeline_json({sum, forward}).at("clocks").at(0);
  REQUIRE(model.at("boxes").size() == 2);
  CHECK(model.at("boxes")[0] == nlohmann::json({0, 0.0, 3e-6, "all_reduce", "collective"}));
  CHECK(model.at("boxes")[1] == nlohmann::json({0, 3e-6, 4e-6, "F"}));
  CHECK(model.at("checks") == nlohmann::json::array({3e-6}));
}

TEST_CASE("a wait that ends in vain is in the trace of its rank, as a message that is lost") {
  launch::WorldSpec world;
  world.num_ranks = 2;
  world.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(world, [](Communicator& comm) {
    comm.point_to_point().recv(at::empty({2}), 1 - comm.rank());
    return TensorMap();
  });
  REQUIRE(outcome.failure);
  REQUIRE(outcome.ranks[1].trace.size() == 1);
  CHECK(never_completed(outcome.ranks[1].trace[0]));
  const nlohmann::json timeline = timeline_json(outcome.ranks[1].trace);
  for (const nlohmann::json& clock : timeline.at("clocks")) {
    REQUIRE(clock.at("arrows").size() == 1);
    CHECK(clock.at("arrows")[0][5] == true);
    CHECK(clock.at("arrows")[0][4].get<std::string>().find("never sent") != std::string::npos);
  }
}

TEST_CASE("a rank that goes on for ever is traced up to a limit, and its trace says so") {
  launch::WorldSpec world;
  world.num_ranks = 1;
  world.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(world, [](Communicator& comm) {
    for (int i = 0; i < 200'000; ++i) endpoint_of(comm).record_computation("F", 0, 0);
    return TensorMap();
  });
  const std::vector<TraceEvent>& trace = outcome.ranks.at(0).trace;
  CHECK(trace.size() == (1u << 17) + 1);
  CHECK(trace.back().operation == "what follows is not traced");
}

TEST_CASE("an empty trace is an empty timeline; of a long one the earliest are kept, and the others counted") {
  const nlohmann::json empty = timeline_json({});
  CHECK(empty.at("ranks") == 0);
  REQUIRE(empty.at("clocks").size() == 1);
  const nlohmann::json large = timeline_json(traced(2, 5100));
  CHECK(large.at("left_out") == 100);
  CHECK(large.at("clocks").at(0).at("arrows").size() == 5000);
}

}  // namespace
}  // namespace lab::comm
