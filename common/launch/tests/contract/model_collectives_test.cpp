#include "common/launch/tests/contract/model_timing.h"

// Every world keeps the same model time of the built-in collectives, to the picosecond.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: in model time, a collective begins when its last member has called it", World,
                   LAB_ALL_WORLDS) {
  for (const int size : kSizes) {
    CAPTURE(size);
    const auto outcome = run_ranks(choose_world<World>(size), [&](Communicator& comm) {
      Collectives& c = comm.collectives();
      const int last = (size - 1) / 2;
      const auto late = [&] { work_us(comm.rank() == last ? 100 : 10 * (comm.rank() % 3)); };
      late();
      c.broadcast(data_us(2), 1 % size);
      late();
      c.all_reduce(at::zeros({size, 500}));  // `size` us
      late();
      c.all_gather(data_us(2));
      late();
      c.reduce_scatter(at::zeros({size, 500}));
      late();
      c.all_to_all(std::vector<at::Tensor>(static_cast<std::size_t>(size), data_us(2)),
                   std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(size), {4000}));
      late();
      c.barrier();
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    std::int64_t log2 = 0;
    while ((1 << log2) < size) ++log2;
    const std::int64_t rounds = 2 * log2 + 5 * (size - 1);
    const std::int64_t data = 2 + 2 * (size - 1) + 2 * (size - 1) + (size - 1) + 2 * (size - 1);
    for (int rank = 0; rank < size; ++rank) {
      CHECK(time_of_rank(outcome, rank).total == 600 * kUs + rounds * (2 * kO + kL) + data * kUs);
      CHECK(time_of_rank(outcome, rank).overhead == rounds * 2 * kO);
    }
  }
}

TEST_CASE_TEMPLATE("contract: model time of an uneven all_to_all: each rank's own bytes", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    // Rank 0 sends 4 us of data to each other rank; they send nothing.
    const std::int64_t sent = comm.rank() == 0 ? 4 : 0;
    comm.collectives().all_to_all(std::vector<at::Tensor>(3, data_us(sent)), {{comm.rank() == 0 ? 0 : 8000}, {0}, {0}});
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(time_of_rank(outcome, 0).total == 2 * (2 * kO + kL) + 8 * kUs);
  for (const int rank : {1, 2}) CHECK(time_of_rank(outcome, rank).total == 2 * (2 * kO + kL) + 4 * kUs);
}

TEST_CASE_TEMPLATE("contract: in model time, members of a sub-group wait for each other only", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(5), [](Communicator& comm) {
    work_us(10 * (comm.rank() + 1));
    const bool even = comm.rank() % 2 == 0;
    Communicator group = comm.subgroup(even ? std::vector<int>{4, 0, 2} : std::vector<int>{3, 1});
    group.collectives().barrier();
    group.collectives().all_gather(data_us(1));
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const int rank : {0, 2, 4}) CHECK(time_of_rank(outcome, rank).total == (50 + 4 * 24 + 2) * kUs);
  for (const int rank : {1, 3}) CHECK(time_of_rank(outcome, rank).total == (40 + 2 * 24 + 1) * kUs);
}

TEST_CASE_TEMPLATE("contract: where ranks do not agree first, each begins a collective at its own model time", World,
                   Threads, Processes) {
  WorldSpec spec = choose_world<World>(3);
  spec.careful = false;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    work_us(10 * comm.rank());
    comm.collectives().all_reduce(at::zeros({1500}));
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank)
    CHECK(time_of_rank(outcome, rank).total == 10 * rank * kUs + 4 * (2 * kO + kL) + 4 * kUs);
}

TEST_CASE_TEMPLATE("contract: members that call all_to_all and something else hear of it", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    if (comm.rank() == 1) comm.collectives().all_gather(at::zeros({2}));
    if (comm.rank() != 1)
      comm.collectives().all_to_all(std::vector<at::Tensor>(3, at::zeros({2})),
                                    std::vector<std::vector<std::int64_t>>(3, {2}));
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(contains(outcome.failure->message, "operation mismatch"));
}

}  // namespace
}  // namespace lab::launch
