#include "common/pipeline/run_schedule.h"

#include <algorithm>

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/sim_world.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/simulated_stage.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Running a schedule: each stage gets the right inputs, and in simulated time it takes as long as the cost model says.
namespace lab::pipeline {
namespace {

/// What stage s - 1 sends to stage s: different for any two stages, micro-batches or directions.
std::int64_t value(int stage, int micro_batch, bool forward) {
  return (stage * 1000 + micro_batch) * 2 + (forward ? 1 : 0);
}

/// Work on one integer per message, which counts errors.
class CountingWork : public StageWork {
 public:
  CountingWork(const Schedule& schedule, int rank) : schedule_(schedule), rank_(rank) {}

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override {
    const int stage = schedule_.find_stage(rank_, chunk);
    look_at(input, stage == 0 ? -1 : value(stage, micro_batch, true));
    ++num_forward;
    return at::full({1}, value(stage + 1, micro_batch, true), at::kLong);
  }

  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override {
    ++num_weight;
    return backward_input(chunk, micro_batch, output_grad);
  }

  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) override {
    const int stage = schedule_.find_stage(rank_, chunk);
    look_at(output_grad, stage == schedule_.num_stages() - 1 ? -1 : value(stage + 1, micro_batch, false));
    ++num_backward;
    return at::full({1}, value(stage, micro_batch, false), at::kLong);
  }

  void backward_weight(int, int) override { ++num_weight; }

  std::int64_t num_wrong = 0, num_forward = 0, num_backward = 0, num_weight = 0;

 private:
  /// -1: it must be undefined.
  void look_at(const at::Tensor& tensor, std::int64_t expected) {
    const std::int64_t found = tensor.defined() ? tensor.item<std::int64_t>() : -1;
    num_wrong += found != expected;
  }

  const Schedule& schedule_;
  const int rank_;
};

/// The schedules of all kinds for p ranks.
std::vector<Schedule> schedules_for(int p, const std::vector<int>& micro_batches) {
  std::vector<Schedule> all;
  for (const int m : micro_batches) {
    for (const std::string& kind : schedule_kinds()) {
      if (kind != "interleaved") {
        all.push_back(make_schedule({kind, p, m, 1}));
      } else if (m % p == 0) {
        for (const int v : {1, 2, 3}) all.push_back(make_schedule({kind, p, m, v}));
      }
    }
    all.push_back(make_schedule({"afab", p, m, 1, Waiting::kBlocking}));
  }
  return all;
}

TEST_CASE("run_schedule: each stage gets each micro-batch's own input and gradient, in every schedule") {
  for (const int p : {1, 2, 3, 4, 8}) {
    const std::vector<Schedule> schedules = schedules_for(p, {1, 2, 3, 5, 8, 12, 16});
    std::vector<std::vector<CountingWork>> works(static_cast<std::size_t>(p));  // by rank and schedule
    const launch::WorldOutcome outcome = launch::run_ranks(threads(p), [&](Communicator& comm) {
      for (const Schedule& schedule : schedules) {
        CountingWork work(schedule, comm.rank());
        run_schedule(schedule, comm.point_to_point(), work, same_buffers({1}, at::kLong));
        works[static_cast<std::size_t>(comm.rank())].push_back(work);
      }
      return TensorMap{};
    });
    if (outcome.failure) FAIL(outcome.failure->message);
    for (const auto& of_rank : works) {
      REQUIRE(of_rank.size() == schedules.size());
      for (std::size_t i = 0; i < schedules.size(); ++i) {
        const Schedule& schedule = schedules[i];
        INFO(schedule.kind << " on " << p << " ranks, m = " << schedule.num_micro_batches
                           << ", v = " << schedule.num_chunks << ", rank " << &of_rank - works.data());
        const std::int64_t each = schedule.num_micro_batches * schedule.num_chunks;
        CHECK(of_rank[i].num_wrong == 0);
        CHECK(of_rank[i].num_forward == each);
        CHECK(of_rank[i].num_backward == each);
        CHECK(of_rank[i].num_weight == each);
      }
    }
  }
}

/// The message with which that many ranks refuse the schedule.
std::string schedule_refusal(const Schedule& schedule, int num_ranks) {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(num_ranks), [&](Communicator& comm) {
    CountingWork work(schedule, comm.rank());
    run_schedule(schedule, comm.point_to_point(), work, same_buffers({1}, at::kLong));
    return TensorMap{};
  });
  if (!outcome.failure) return "";
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  return outcome.failure->message;
}

TEST_CASE("run_schedule: a schedule for another number of ranks is refused") {
  CHECK(schedule_refusal(make_schedule({"1f1b", 3, 4, 1}), 2) == "the schedule is for 3 ranks, and there are 2");
}

TEST_CASE("run_schedule: a list that computes, sends or awaits before it can is refused where it does") {
  const Action forward{Operation::kForward, 0, 0}, receive{Operation::kRecvForward, 0, 0};
  const Action send{Operation::kSendForward, 0, 0};
  Action receive_end = receive;
  receive_end.extent = Extent::kFinish;
  const std::string early = " comes before what it needs";
  Schedule schedule{"made up", 2, 1, 1, {{forward}, {forward, receive}}};
  CHECK(schedule_refusal(schedule, 2) == "rank 1: forward of micro-batch 0" + early);
  schedule.ranks = {{send, forward}, {receive}};
  CHECK(schedule_refusal(schedule, 2) == "rank 0: send_forward of micro-batch 0" + early);
  schedule.ranks = {{forward}, {receive_end}};
  CHECK(schedule_refusal(schedule, 2) == "rank 1: end of recv_forward of micro-batch 0" + early);
  const Action backward{Operation::kBackward, 0, 0};
  schedule.ranks = {{forward, backward}, {}};
  CHECK(schedule_refusal(schedule, 2) == "rank 0: backward of micro-batch 0" + early);
}

/// From the beginning of the first computation to the end of the last one, in simulated time.
double simulated_makespan(const Schedule& schedule, const Costs& costs) {
  launch::WorldSpec spec = choose_world<Sim>(schedule.num_ranks, 1e6);
  spec.traced = true;
  spec.network.latency_seconds = costs.latency_seconds;
  spec.network.bytes_per_second = 1 / costs.seconds_per_byte;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [&](Communicator& comm) {
    const at::Tensor activation = at::empty({costs.message_bytes}, at::TensorOptions(at::kMeta).dtype(at::kByte));
    SimulatedStage work(schedule, costs, get_endpoint(comm), activation);
    run_schedule(schedule, comm.point_to_point(), work, same_buffers(activation.sizes(), activation.options()));
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  double start = std::numeric_limits<double>::infinity(), end = 0;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    for (const comm::TraceEvent& event : rank.trace) {
      if (event.kind != comm::TraceKind::kComputation) continue;
      start = std::min(start, event.start_seconds);
      end = std::max(end, event.end_seconds);
    }
  }
  return end - start;
}

/// Uneven stages, and messages that matter.
Costs costs_for(const Schedule& schedule, std::int64_t message_bytes) {
  Costs costs;
  costs.forward_seconds.clear();
  costs.backward_input_seconds.clear();
  costs.backward_weight_seconds.clear();
  for (int stage = 0; stage < schedule.num_stages(); ++stage) {
    costs.forward_seconds.push_back(1e-3 * (1 + stage % 3));
    costs.backward_input_seconds.push_back(1e-3 * (2 + stage % 2));
    costs.backward_weight_seconds.push_back(1e-3 * (1 + stage % 4));
  }
  costs.latency_seconds = 0.4e-3;
  costs.seconds_per_byte = 1e-9;
  costs.message_bytes = message_bytes;
  return costs;
}

void check_makespan(const Schedule& schedule, std::int64_t message_bytes) {
  const Costs costs = costs_for(schedule, message_bytes);
  const double modelled = make_timeline(schedule, costs).makespan_seconds;
  INFO(schedule.kind << " on " << schedule.num_ranks << " ranks, m = " << schedule.num_micro_batches
                     << ", v = " << schedule.num_chunks << ", " << message_bytes << " bytes");
  CHECK(std::abs(simulated_makespan(schedule, costs) - modelled) <= 1e-9 * modelled);
}

TEST_CASE("run_schedule: in simulated time it takes what the cost model says, where no two messages share a link") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  // Empty messages take their latency and share nothing.
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const Schedule& schedule : schedules_for(p, {1, p, 2 * p, 11})) check_makespan(schedule, 0);
  }
  // Two ranks with one chunk each: one rank's messages all wait for each other, so each has the link for itself.
  for (const int m : {1, 2, 5, 8}) check_makespan(make_schedule({"afab", 2, m, 1, Waiting::kBlocking}), 300000);
}

}  // namespace
}  // namespace lab::pipeline
