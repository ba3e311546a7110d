#include <c10/core/GradMode.h>
#include <unistd.h>

#include <csignal>

#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// All simulated ranks share one process: what must stay per rank, and what ends them all.
namespace lab::launch {
namespace {

TEST_CASE("sim: the grad mode of one rank is not another's") {
  const auto outcome = run_ranks(choose_world<Sim>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor token = at::zeros({1});
    if (p2p.rank() == 0) {
      const c10::NoGradGuard no_grad;
      p2p.recv(token, 1);  // rank 1 runs meanwhile
      if (c10::GradMode::is_enabled()) throw std::runtime_error("rank 0 lost its guard");
      return TensorMap{};
    }
    const at::Tensor weight = at::ones({3}).set_requires_grad(true);
    const at::Tensor loss = (weight * weight).sum();
    if (!loss.requires_grad()) throw std::runtime_error("rank 1 is under rank 0's guard");
    p2p.send(token, 0);
    loss.backward();
    return TensorMap{{"grad", weight.grad()}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(at::equal(tensor_of_rank(outcome, 1, "grad"), at::full({3}, 2.F)));
}

TEST_CASE("sim: ranks communicate inside backward(), each in its own graph") {
  const auto outcome = run_ranks(choose_world<Sim>(3), [](Communicator& comm) {
    const at::Tensor weight = at::full({3}, comm.rank() + 1.0).set_requires_grad(true);
    const at::Tensor other = at::ones({3}).set_requires_grad(true);
    weight.register_hook([&](at::Tensor gradient) { return comm.collectives().all_reduce(gradient); });
    (weight * weight + other).sum().backward();  // a rank waits inside it for the others, which then begin theirs
    if (comm.rank() == 0) (3 * other).sum().backward();
    return TensorMap{{"weight", weight.grad()}, {"other", other.grad()}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(at::equal(tensor_of_rank(outcome, rank, "weight"), at::full({3}, 2.0 + 4.0 + 6.0)));
    CHECK(at::equal(tensor_of_rank(outcome, rank, "other"), at::full({3}, rank == 0 ? 4.F : 1.F)));
  }
}

TEST_CASE("sim: each rank's tensors are charged to that rank") {
  const auto outcome = run_ranks(choose_world<Sim>(3), [](Communicator& comm) {
    const MemoryScope scope;
    const at::Tensor before = at::zeros({1000 * (comm.rank() + 1)});
    comm.collectives().barrier();
    const at::Tensor after = at::zeros({1000 * (comm.rank() + 1)});
    comm.collectives().barrier();
    return TensorMap{{"current", at::full({1}, scope.reading().retained_bytes)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(tensor_of_rank(outcome, rank, "current").item<std::int64_t>() == 8000 * (rank + 1));
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.peak_tensor_bytes >= 8000 * (rank + 1));
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.peak_tensor_bytes < 8000 * (rank + 1) + 1000);
  }
}

TEST_CASE("sim: each rank's work is counted for that rank") {
  const auto outcome = run_ranks(choose_world<Sim>(3), [](Communicator& comm) {
    const WorkScope scope;
    const at::Tensor mine = at::ones({1000 * (comm.rank() + 1)});
    mine.add_(1);
    comm.collectives().barrier();
    mine.add_(1);
    comm.collectives().barrier();
    return TensorMap{{"flops", at::full({1}, scope.flops())}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(tensor_of_rank(outcome, rank, "flops").item<std::int64_t>() == 2000 * (rank + 1));
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.flops == 2000 * (rank + 1));
  }
}

TEST_CASE("sim: a rank may communicate while it handles an exception") {
  const auto outcome = run_ranks(choose_world<Sim>(4), [](Communicator& comm) {
    const std::string mine = "rank " + std::to_string(comm.rank());
    std::string caught;
    try {
      try {
        throw std::runtime_error(mine);
      } catch (const std::exception&) {
        // The ranks leave their handlers in an order that is neither that of entering them nor its reverse.
        const at::Tensor token = at::zeros({1});
        const int order[] = {2, 0, 3, 1};
        for (int turn = 0; turn + 1 < 4; ++turn) {
          if (order[turn] == comm.rank()) comm.point_to_point().send(token, order[turn + 1]);
          if (order[turn + 1] == comm.rank()) comm.point_to_point().recv(token, order[turn]);
        }
        throw;
      }
    } catch (const std::exception& again) {
      caught = again.what();
    }
    if (caught != mine) throw std::runtime_error("got the exception of " + caught);
    if (std::current_exception()) throw std::runtime_error("an exception of another rank is left");
    return TensorMap{};
  });
  CHECK_FALSE(outcome.failure);
}

TEST_CASE("sim: a simulation that crashes or exits is a failure of every rank") {
  for (const bool crashes : {true, false}) {
    CAPTURE(crashes);
    const auto outcome = run_ranks(choose_world<Sim>(3), [&](Communicator& comm) {
      comm.collectives().barrier();
      if (comm.rank() == 1) crashes ? static_cast<void>(std::raise(SIGKILL)) : _exit(0);
      comm.collectives().barrier();
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CAPTURE(outcome.failure->message);
    CHECK(outcome.failure->exit_code == (crashes ? 128 + SIGKILL : static_cast<int>(ExitCode::kStudentCode)));
    CHECK(contains(outcome.failure->message, "the process that simulates all ranks "));
    CHECK(contains(outcome.failure->message, crashes ? "killed by signal 9" : "exited with code 0"));
    REQUIRE(outcome.ranks.size() == 3);
    CHECK(exit_code_of_rank(outcome, 2) == outcome.failure->exit_code);
  }
}

}  // namespace
}  // namespace lab::launch
