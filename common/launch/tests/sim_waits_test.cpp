#include "common/launch/tests/sim_timing.h"
#include "common/testing/test.h"

// Waits that never end, or not in time: found at an exact simulated time.
namespace lab::launch {
namespace {

TEST_CASE("sim: a wait longer than the time-out, in simulated seconds, says what for") {
  WorldSpec spec = choose_world<Sim>(3, 0.5);
  spec.network = {"star", 0.2, 1e9};
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({256});
    if (p2p.rank() == 2) {
      try {
        p2p.recv(value, 0);
      } catch (const CommError&) {
        if (now(comm) != 0.5) throw std::runtime_error("woken at " + std::to_string(now(comm)));
        throw;
      }
      return TensorMap{};
    }
    for (int i = 0; i < 5; ++i) {  // each wait is shorter than the time-out
      if (p2p.rank() == 0) p2p.send(value, 1);
      if (p2p.rank() == 1) p2p.recv(value, 0);
    }
    if (p2p.rank() == 0) p2p.send(value, 2);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(contains(message_of_rank(outcome, 2), "timed out after 0.5 s: rank 2 waits to receive 1 KiB from rank 0 ("));
  CHECK(contains(message_of_rank(outcome, 0), "rank 2 failed: timed out"));
}

TEST_CASE("sim: a message that travels longer than the time-out times out, too") {
  WorldSpec spec = choose_world<Sim>(2, 0.5);
  spec.network = {"star", 1e-6, 100};
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    if (comm.rank() == 0) comm.point_to_point().send(at::zeros({100}), 1);
    if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({100}), 0);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(contains(outcome.failure->message, "timed out after 0.5 s"));
}

TEST_CASE("sim: a deadlock is found while others' messages travel") {
  const auto outcome = run_ranks(choose_world<Sim>(4), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({1000});
    if (p2p.rank() == 0) p2p.send(value, 1);
    if (p2p.rank() == 1) p2p.recv(value, 0);
    if (p2p.rank() >= 2) {
      try {
        p2p.recv(value, 5 - p2p.rank());
      } catch (const DeadlockError&) {
        if (now(comm) != 0) throw std::runtime_error("found late");
        throw;
      }
    }
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
  CHECK(contains(outcome.failure->message, "deadlock: rank 2 waits to receive"));
}

TEST_CASE("sim: a deadlock is found when the rank that is waited for returns, though no new wait begins then") {
  const auto outcome = run_ranks(choose_world<Sim>(3), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({1});
    if (p2p.rank() == 0) p2p.recv(value, 1);  // all the while
    if (p2p.rank() == 1) p2p.send(value, 2);
    if (p2p.rank() == 2) p2p.recv(value, 1);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CAPTURE(outcome.failure->message);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
  CHECK(contains(outcome.failure->message, "deadlock: rank 0 waits to receive 4 B from rank 1 ("));
  CHECK(contains(outcome.failure->message, "but rank 1 has already returned"));
}

}  // namespace
}  // namespace lab::launch
