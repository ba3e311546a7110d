#include "common/comm/trace/trace_timeline.h"

#include "common/comm/messages/get_endpoint.h"
#include "common/launch/run_ranks.h"
#include "common/testing/get_message.h"
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

TEST_CASE("a timeline has each message once by each clock, and the critical path in model time") {
  const plot::Timeline timeline = trace_timeline(traced(3, 2));
  CHECK(timeline.num_ranks == 2);  // rank 2 did nothing
  CHECK(timeline.title == "2 ranks: 2 messages of 1 KiB");
  REQUIRE(timeline.clocks.size() == 2);
  for (const plot::Clock& clock : timeline.clocks) {
    INFO(clock.title);
    REQUIRE(clock.arrows.size() == 2);
    CHECK(clock.boxes.empty());
    const plot::Arrow& first = clock.arrows[0];
    CHECK(first.src_rank == 0);
    CHECK(first.dst_rank == 1);
    CHECK(first.start <= first.end);
    CHECK(first.start <= clock.arrows[1].start);
    CHECK(testing::contains(first.title, "from rank 0 to rank 1: 1024 B"));
  }
  CHECK(timeline.clocks[0].path.empty());
  const plot::Clock& model = timeline.clocks[1];
  // Of a message of n bytes: overhead at both ends, latency, n / bandwidth; see model_time.md.
  CHECK(testing::contains(model.title, "model time (10 GFLOP/s, 2 GB/s, latency 20 us, overhead 2 us): makespan "));
  CHECK(testing::contains(model.title, "; the critical path is red"));
  CHECK(model.arrows[0].end == doctest::Approx(2e-6 + 20e-6 + 1024 * 0.5e-9));
  REQUIRE_FALSE(model.path.empty());
  CHECK(model.path[0].start == 0);
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
  const plot::Timeline timeline = trace_timeline({sum, forward});
  CHECK(timeline.title == "1 rank: 1 call of a collective, 1 computation");
  const plot::Clock& model = timeline.clocks.at(1);
  REQUIRE(model.boxes.size() == 2);
  CHECK(model.boxes[0].title == "rank 0: all_reduce");
  CHECK(model.boxes[0].end == 3e-6);
  CHECK(model.boxes[1].title == "rank 0: F");
  CHECK(model.boxes[1].start == 3e-6);
  CHECK(model.boxes[1].end == 4e-6);
  CHECK(model.boxes[0].fill.rgb != model.boxes[1].fill.rgb);
  CHECK(model.marks == std::vector<double>{3e-6});
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
  const plot::Timeline timeline = trace_timeline(outcome.ranks[1].trace);
  CHECK(testing::contains(timeline.title, "; 1 of them, dashed, waited for in vain"));
  for (const plot::Clock& clock : timeline.clocks) {
    REQUIRE(clock.arrows.size() == 1);
    CHECK(clock.arrows[0].dashed);
    CHECK(clock.arrows[0].end > clock.arrows[0].start);
    CHECK(testing::contains(clock.arrows[0].title, "never sent"));
  }
}

TEST_CASE("a rank that goes on for ever is traced up to a limit, and its trace says so") {
  launch::WorldSpec world;
  world.num_ranks = 1;
  world.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(world, [](Communicator& comm) {
    for (int i = 0; i < 200'000; ++i) get_endpoint(comm).record_computation("F", 0, 0);
    return TensorMap();
  });
  const std::vector<TraceEvent>& trace = outcome.ranks.at(0).trace;
  CHECK(trace.size() == (1u << 17) + 1);
  CHECK(trace.back().operation == "what follows is not traced");
}

}  // namespace
}  // namespace lab::comm
