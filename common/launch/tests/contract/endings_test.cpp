#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "common/base/subprocess.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Ranks as processes, of which one loops or is stopped: the run ends by itself and names the late rank.
namespace lab::launch {
namespace {

constexpr double kTimeoutSeconds = 0.5;
/// From the time-out to the end of all ranks: the launcher's grace period and the time between its signals.
constexpr double kGraceSeconds = 3;

[[noreturn]] void loop_without_end() {
  for (;;) ::usleep(1000);
}

struct Ended {
  WorldOutcome outcome;
  double seconds = 0;
};

template <typename World>
Ended run_to_the_end(int num_ranks, const std::function<void(Communicator&)>& body) {
  const auto start = std::chrono::steady_clock::now();
  Ended ended;
  ended.outcome = run_ranks(choose_world<World>(num_ranks, kTimeoutSeconds), [&](Communicator& comm) {
    body(comm);
    return TensorMap{};
  });
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return ended;
}

void check_late(const Ended& ended, int late, const std::string& doing) {
  REQUIRE(ended.outcome.failure);
  CAPTURE(ended.outcome.failure->message);
  CHECK(ended.outcome.failure->exit_code == static_cast<int>(ExitCode::kCommunication));
  CHECK(contains(ended.outcome.failure->message, "timed out after 0.5 s"));
  CHECK(contains(ended.outcome.failure->message, "late: rank " + std::to_string(late) + " " + doing));
  REQUIRE(ended.outcome.rank_lines.size() == ended.outcome.ranks.size());
  CHECK(contains(ended.outcome.rank_lines[static_cast<std::size_t>(late)], doing));
}

TEST_CASE_TEMPLATE("contract: a rank that loops after the others have returned is named", World, Processes,
                   SharedMemory) {
  const Ended ended = run_to_the_end<World>(3, [](Communicator& comm) {
    comm.collectives().barrier();
    if (comm.rank() == 1) loop_without_end();
  });
  check_late(ended, 1, "computes");
  CHECK(contains(ended.outcome.failure->message, "has returned and waits for rank 1 to return"));
}

TEST_CASE_TEMPLATE("contract: a rank that is stopped after the others have returned is named", World, Processes,
                   SharedMemory) {
  const Ended ended = run_to_the_end<World>(3, [](Communicator& comm) {
    if (comm.rank() == 2) ::raise(SIGSTOP);
  });
  check_late(ended, 2, "is stopped by SIGSTOP while it computes");
}

TEST_CASE_TEMPLATE("contract: ranks that are all stopped end", World, Processes, SharedMemory) {
  const Ended ended = run_to_the_end<World>(3, [](Communicator&) { ::raise(SIGSTOP); });
  REQUIRE(ended.outcome.failure);
  CHECK(ended.outcome.failure->exit_code == static_cast<int>(ExitCode::kCommunication));
  CHECK(contains(ended.outcome.failure->message, "was stopped by SIGSTOP and did not continue for 0.5 s"));
  CHECK(ended.outcome.rank_lines.size() == 3);
}

TEST_CASE_TEMPLATE("contract: a time-out names the rank at the end of a chain of waits, not the one in between", World,
                   Processes, SharedMemory) {
  const Ended ended = run_to_the_end<World>(3, [](Communicator& comm) {
    const at::Tensor value = at::zeros({1});
    if (comm.rank() == 2) loop_without_end();
    comm.point_to_point().recv(value, comm.rank() + 1);
  });
  check_late(ended, 2, "computes");
}

TEST_CASE_TEMPLATE("contract: a stopped rank that others wait for is named, with its last messages", World, Processes,
                   SharedMemory) {
  const Ended ended = run_to_the_end<World>(4, [](Communicator& comm) {
    const at::Tensor value = at::zeros({1});
    PointToPoint& p2p = comm.point_to_point();
    if (comm.rank() == 3) p2p.send(value, 0);
    if (comm.rank() == 0) p2p.recv(value, 3);
    if (comm.rank() == 3) ::raise(SIGSTOP);
    comm.collectives().barrier();
  });
  check_late(ended, 3, "is stopped by SIGSTOP");
  CHECK(contains(ended.outcome.rank_lines[3], "completed send of 4 B to rank 0"));
}

TEST_CASE_TEMPLATE("contract: a run without end is over soon after the time-out", World, Processes, SharedMemory) {
  const Ended ended = run_to_the_end<World>(2, [](Communicator& comm) {
    if (comm.rank() == 1) {
      ::signal(SIGTERM, SIG_IGN);
      loop_without_end();
    }
  });
  REQUIRE(ended.outcome.failure);
  CHECK(ended.outcome.failure->exit_code == static_cast<int>(ExitCode::kCommunication));
  CHECK(ended.seconds < 20 * (kTimeoutSeconds + kGraceSeconds));  // only guards against never ending, on any machine
}

/// Stops both processes after `before` seconds and continues them `stopped` seconds later.
void suspend(pid_t first, pid_t second, double before, double stopped) {
  if (::fork() != 0) return;
  ::usleep(static_cast<useconds_t>(1e6 * before));
  for (const pid_t pid : {first, second}) ::kill(pid, SIGSTOP);
  ::usleep(static_cast<useconds_t>(1e6 * stopped));
  for (const pid_t pid : {first, second}) ::kill(pid, SIGCONT);
  ::_exit(0);
}

TEST_CASE_TEMPLATE("contract: time in which a run was suspended does not count as waiting", World, Processes,
                   SharedMemory) {
  // The wait lasts 3.5 s of wall-clock time, of which only the 1 s before the suspension counts.
  const auto outcome = run_ranks(choose_world<World>(2, 3), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor pid = at::full({1}, static_cast<std::int64_t>(::getpid()), at::kLong);
    if (comm.rank() == 0) {
      p2p.send(pid, 1);
      p2p.recv(pid, 1);
    } else {
      p2p.recv(pid, 0);
      suspend(static_cast<pid_t>(pid.item<std::int64_t>()), ::getpid(), 1, 2.5);
      ::usleep(1'200'000);  // goes on after the suspension
      p2p.send(pid, 0);
    }
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
}

TEST_CASE("contract: a rank that loops after the others have returned ends a world of threads, too") {
  // In a separate process, because the whole process ends.
  const pid_t child = fork_process([] {
    ::dup2(::open("/dev/null", O_WRONLY), 2);
    run_ranks(choose_world<Threads>(3, kTimeoutSeconds), [](Communicator& comm) {
      if (comm.rank() == 1) loop_without_end();
      return TensorMap{};
    });
    return 0;
  });
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(ExitCode::kCommunication));
}

TEST_CASE("contract: in a world of threads a time-out names the rank at the end of a chain of waits") {
  constexpr double kSeconds = 2;  // in which rank 1, once it runs, must have come to its wait
  std::atomic<bool> rank_1_runs = false;
  const auto outcome = run_ranks(choose_world<Threads>(3, kSeconds), [&](Communicator& comm) {
    const at::Tensor value = at::zeros({1});
    if (comm.rank() == 1) {
      rank_1_runs = true;
      ::usleep(static_cast<useconds_t>(0.25e6 * kSeconds));  // so that it is rank 0 whose time is over first
    }
    while (!rank_1_runs) ::usleep(1000);
    if (comm.rank() == 2) {
      ::usleep(static_cast<useconds_t>(2e6 * kSeconds));
    } else {
      comm.point_to_point().recv(value, comm.rank() + 1);
    }
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CAPTURE(outcome.failure->message);
  CHECK(contains(outcome.failure->message, "late: rank 2 computes"));
}

}  // namespace
}  // namespace lab::launch
