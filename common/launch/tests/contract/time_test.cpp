#include <cmath>

#include "common/comm/messages/get_endpoint.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What every world guarantees about the time that a rank spends on computations, real or stand-in.
namespace lab::launch {
namespace {

constexpr double kShort = 1.0 / 512;  // seconds; an integral number of nanoseconds
constexpr double kRounding = 1e-9;    // of a clock that may count from the machine's boot
constexpr double kSimulatedExact = 1e-12;

double bound_time(Communicator& comm) {
  return get_endpoint(comm).transport().now();
}

at::Tensor one(double value) {
  return at::full({1}, value, at::kDouble);
}

double number_of_rank(const WorldOutcome& outcome, int rank, const std::string& name) {
  return tensor_of_rank(outcome, rank, name).item<double>();
}

TEST_CASE_TEMPLATE("contract: time that a rank passes has passed on its clock", World, LAB_ALL_WORLDS) {
  for (const int size : {1, 3}) {
    const auto outcome = run_ranks(choose_world<World>(size), [](Communicator& comm) {
      const double start = bound_time(comm);
      get_endpoint(comm).transport().pass_time(0);
      get_endpoint(comm).transport().pass_time(kShort * (comm.rank() + 1));
      return TensorMap{{"passed", one(bound_time(comm) - start)}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < size; ++rank)
      CHECK(number_of_rank(outcome, rank, "passed") >= kShort * (rank + 1) - kRounding);
  }
}

TEST_CASE_TEMPLATE("contract: a message arrives after the time that its sender passed before it", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    const at::Tensor value = at::zeros({1});
    const double start = bound_time(comm);
    if (comm.rank() == 0) {
      get_endpoint(comm).transport().pass_time(kShort);
      const double passed = bound_time(comm);
      comm.point_to_point().send(value, 1);
      return TensorMap{{"start", one(start)}, {"then", one(passed)}};
    }
    comm.point_to_point().recv(value, 0);
    return TensorMap{{"then", one(bound_time(comm))}};
  });
  REQUIRE_FALSE(outcome.failure);
  const double received = number_of_rank(outcome, 1, "then");
  CHECK(received >= number_of_rank(outcome, 0, "then") - kRounding);
  CHECK(received >= number_of_rank(outcome, 0, "start") + kShort - kRounding);
}

TEST_CASE_TEMPLATE("contract: a computation is traced with its operation, its turn and its time", World,
                   LAB_ALL_WORLDS) {
  WorldSpec spec = choose_world<World>(3);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    for (std::uint64_t turn = 0; turn < 2; ++turn) {
      const double start = bound_time(comm);
      get_endpoint(comm).transport().pass_time(kShort);
      get_endpoint(comm).record_computation("F" + std::to_string(turn), 10 * turn + 7, start);
    }
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<comm::TraceEvent>& trace = outcome.ranks[static_cast<std::size_t>(rank)].trace;
    REQUIRE(trace.size() == 2);
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const comm::TraceEvent& event = trace[turn];
      CHECK(event.kind == comm::TraceKind::kComputation);
      CHECK(event.rank == rank);
      CHECK(event.operation == "F" + std::to_string(turn));
      CHECK(event.sequence == 10 * turn + 7);
      CHECK(event.end_seconds >= event.start_seconds + kShort - kRounding);
    }
    CHECK(trace[1].start_seconds >= trace[0].end_seconds);
  }
}

TEST_CASE_TEMPLATE("contract: untraced, a computation leaves nothing behind", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    get_endpoint(comm).record_computation("F0", 0, bound_time(comm));
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) {
    CHECK(rank.trace.empty());
    CHECK(rank.report.ledger.empty());
  }
}

#if defined(LAB_HAS_SIMGRID)

TEST_CASE("contract: simulated ranks pass time side by side, to the point<sim>") {
  for (const int size : world_sizes()) {
    CAPTURE(size);
    const auto outcome = run_ranks(choose_world<Sim>(size), [](Communicator& comm) {
      get_endpoint(comm).transport().pass_time(5);
      const double after_five = bound_time(comm);
      get_endpoint(comm).transport().pass_time(0.25 * comm.rank());
      return TensorMap{{"five", one(after_five)}, {"all", one(bound_time(comm))}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < size; ++rank) {
      CHECK(std::abs(number_of_rank(outcome, rank, "five") - 5) <= kSimulatedExact);
      CHECK(std::abs(number_of_rank(outcome, rank, "all") - (5 + 0.25 * rank)) <= kSimulatedExact);
    }
  }
}

TEST_CASE("contract: simulated time that is passed and time that messages take add up<sim>") {
  WorldSpec spec = choose_world<Sim>(2);
  spec.network = {"star", 0.5, 16};
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    const at::Tensor value = at::zeros({4});  // 16 bytes: half a second and one
    if (comm.rank() == 0) {
      get_endpoint(comm).transport().pass_time(2);
      comm.point_to_point().send(value, 1);
    } else {
      comm.point_to_point().recv(value, 0);
      get_endpoint(comm).transport().pass_time(3);
    }
    return TensorMap{{"then", one(bound_time(comm))}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(std::abs(number_of_rank(outcome, 0, "then") - 3.5) <= kSimulatedExact);
  CHECK(std::abs(number_of_rank(outcome, 1, "then") - 6.5) <= kSimulatedExact);
}

TEST_CASE("contract: while a rank passes simulated time, its messages travel<sim>") {
  WorldSpec spec = choose_world<Sim>(2);
  spec.network = {"star", 0.5, 16};
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    const at::Tensor value = at::zeros({4});
    Request request = comm.rank() == 0 ? comm.point_to_point().isend(value, 1) : comm.point_to_point().irecv(value, 0);
    get_endpoint(comm).transport().pass_time(comm.rank() == 0 ? 1 : 4);
    request.wait();
    return TensorMap{{"then", one(bound_time(comm))}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(std::abs(number_of_rank(outcome, 0, "then") - 1.5) <= kSimulatedExact);
  CHECK(std::abs(number_of_rank(outcome, 1, "then") - 4) <= kSimulatedExact);
}

#endif

}  // namespace
}  // namespace lab::launch
