#include "common/comm/lone_work.h"

#include <chrono>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Ranks wait for one that works alone only as long as it reports progress.
namespace lab::launch {
namespace {

constexpr double kLoneTimeoutSeconds = 1;

/// Works for twice a wait's time-out.
void work_for_long(const std::function<void()>& once_per_step) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(2 * kLoneTimeoutSeconds);
  while (std::chrono::steady_clock::now() < end) once_per_step();
}

TEST_CASE_TEMPLATE("contract: ranks without work wait as long as others work, however unequal", World, LAB_ALL_WORLDS) {
  for (const int size : {1, 2, 3, 5}) {
    CAPTURE(size);
    const WorldOutcome outcome = run_ranks(choose_world<World>(size), [](Communicator& comm) {
      std::int64_t num_steps = 0;
      comm::work_while_others_wait(comm.collectives(), [&](const comm::ReportProgress& report) {
        for (int i = 0; i < 100 * comm.rank(); ++i) {
          report();
          ++num_steps;
        }
      });
      // If some rank had missed a round, this sum would be matched with another one.
      return TensorMap{{"sum", comm.collectives().all_reduce(at::full({1}, num_steps, at::kLong))}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < size; ++rank)
      CHECK(tensor_of_rank(outcome, rank, "sum").template item<std::int64_t>() == 100 * size * (size - 1) / 2);
  }
}

TEST_CASE_TEMPLATE("contract: lone work that reports progress may last longer than the time-out", World, Threads,
                   Processes) {
  const WorldOutcome outcome = run_ranks(choose_world<World>(3, kLoneTimeoutSeconds), [](Communicator& comm) {
    const auto work = [](const comm::ReportProgress& report) { work_for_long(report); };
    comm::work_while_others_wait(comm.collectives(),
                                 comm.rank() == 1 ? work : std::function<void(const comm::ReportProgress&)>());
    return TensorMap{};
  });
  CHECK_FALSE(outcome.failure);
}

TEST_CASE_TEMPLATE("contract: lone work without a report of progress times out", World, Threads, Processes) {
  const WorldOutcome outcome = run_ranks(choose_world<World>(3, kLoneTimeoutSeconds), [](Communicator& comm) {
    const auto work = [](const comm::ReportProgress&) { work_for_long([] {}); };
    comm::work_while_others_wait(comm.collectives(),
                                 comm.rank() == 1 ? work : std::function<void(const comm::ReportProgress&)>());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kCommunication));
}

}  // namespace
}  // namespace lab::launch
