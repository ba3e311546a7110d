#include "a5_pipeline/commands/schedules.h"
#include "common/comm/sim_world.h"
#include "common/pipeline/generators.h"
#include "common/testing/test.h"

// A trace, read as a timeline of the schedule that it came from.
namespace lab::a5 {
namespace {

using pipeline::Operation;
using pipeline::Schedule;

Schedule two_ranks() {
  pipeline::ScheduleOptions options;
  options.kind = "1f1b";
  options.num_ranks = 2;
  options.num_micro_batches = 1;
  return pipeline::make_schedule(options);
}

comm::TraceEvent computation(int rank, const std::string& name, double start_seconds, double end_seconds) {
  comm::TraceEvent event;
  event.rank = rank;
  event.kind = comm::TraceKind::kComputation;
  event.operation = name;
  event.start_seconds = start_seconds;
  event.end_seconds = end_seconds;
  return event;
}

comm::TraceEvent message_end(comm::Direction direction, int tag, double start_seconds, double end_seconds) {
  comm::TraceEvent event;
  event.rank = direction == comm::Direction::kSend ? 0 : 1;
  event.peer = 1 - event.rank;
  event.direction = direction;
  event.tag = tag;
  event.start_seconds = start_seconds;
  event.end_seconds = end_seconds;
  return event;
}

TEST_CASE("computations are known by their names, messages by their tags, and time begins with the first computation") {
  const Schedule schedule = two_ranks();
  const int tag = message_tag(schedule, 0, {Operation::kSendForward, 0, 0});
  const pipeline::Timeline timeline = measured_timeline(
      schedule, {computation(0, "F0", 10, 11), message_end(comm::Direction::kSend, tag, 11, 13),
                 message_end(comm::Direction::kRecv, tag, 12, 12.5), computation(1, "F0", 12.5, 14),
                 computation(1, "B0", 14, 17), computation(0, "B0", 17, 20), computation(0, "F7", 30, 31),
                 computation(0, "warm-up", 1, 2), message_end(comm::Direction::kSend, tag + 1000, 1, 2)});
  REQUIRE(timeline.computations.size() == 4);  // F7 and the warm-up are of another run
  CHECK(timeline.computations[1].rank == 1);
  CHECK(timeline.computations[1].action.operation == Operation::kForward);
  CHECK(timeline.computations[1].start_seconds == 2.5);
  CHECK(timeline.makespan_seconds == 10);
  CHECK(timeline.busy_seconds == std::vector<double>{4, 4.5});
  CHECK(timeline.bubble_fraction() == doctest::Approx(1 - 8.5 / 20));
  REQUIRE(timeline.messages.size() == 1);
  CHECK(timeline.messages[0].rank == 0);
  CHECK(timeline.messages[0].action.operation == Operation::kSendForward);
  CHECK(timeline.messages[0].start_seconds == 2);  // when both ends had posted it
  CHECK(timeline.messages[0].end_seconds == 2.5);  // when the receiver had it
}

TEST_CASE("nothing traced is an empty timeline") {
  const pipeline::Timeline timeline = measured_timeline(two_ranks(), {});
  CHECK(timeline.computations.empty());
  CHECK(timeline.messages.empty());
  CHECK(timeline.makespan_seconds == 0);
}

TEST_CASE("a simulated run is the cost model's timeline, computation by computation and message by message") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no simulated network");
    return;
  }
  for (const std::string& kind : pipeline::schedule_kinds()) {
    CAPTURE(kind);
    pipeline::ScheduleOptions options;
    options.kind = kind;
    options.num_ranks = 3;
    options.num_micro_batches = 6;
    options.num_chunks = kind == "interleaved" ? 2 : 1;
    const Schedule schedule = pipeline::make_schedule(options);
    pipeline::Costs costs = even_costs(schedule, 1, 1, 1);
    costs.latency_seconds = 0.125;
    const pipeline::Timeline model = make_timeline(schedule, costs);
    const pipeline::Timeline found = simulate(schedule, costs, {"star", costs.latency_seconds, 1e9});
    CHECK(found.makespan_seconds == doctest::Approx(model.makespan_seconds).epsilon(1e-9));
    CHECK(found.computations.size() == model.computations.size());
    CHECK(found.messages.size() == model.messages.size());
    CHECK(found.bubble_fraction() == doctest::Approx(model.bubble_fraction()).epsilon(1e-9));
    CHECK(found.peak_live_activations == model.peak_live_activations);
  }
}

}  // namespace
}  // namespace lab::a5
