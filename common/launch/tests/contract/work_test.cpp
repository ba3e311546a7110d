#include <ATen/ATen.h>

#include "common/api/communicator.h"
#include "common/testing/worlds.h"

// A rank's report says how many floating-point operations it did: the same number in every world.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: a rank's work is counted alike in every world, backward passes too", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    const std::int64_t rows = comm.rank() + 2;
    const at::Tensor weight = at::ones({5, 7}).set_requires_grad(true);
    const at::Tensor y = at::mm(at::ones({rows, 5}), weight);
    comm.collectives().barrier();
    y.backward(at::ones_like(y));
    comm.collectives().all_reduce(weight.grad());
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) CHECK(rank.report.flops == 2 * (2 * (rank.report.rank + 2) * 5 * 7));
}

TEST_CASE_TEMPLATE("contract: what collectives add is no work of a rank", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(4), [](Communicator& comm) {
    comm.collectives().all_reduce(at::ones({1000}));
    comm.collectives().reduce_scatter(at::ones({1000}));
    at::ones({3}) + 1;
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) CHECK(rank.report.flops == 3);
}

TEST_CASE_TEMPLATE("contract: a rank that fails has reported the work before", World, LAB_WORLDS_OF_ONE_PROCESS) {
  const auto outcome = run_ranks(choose_world<World>(1), [](Communicator&) {
    at::ones({3}) + 1;
    throw std::runtime_error("stop");
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.ranks[0].report.flops == 3);
}

}  // namespace
}  // namespace lab::launch
