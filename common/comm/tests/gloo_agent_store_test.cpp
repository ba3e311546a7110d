#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/comm/gloo/agent_store.h"
#include "common/testing/processes.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Clock::time_point in(int ms) {
  return Clock::now() + milliseconds(ms);
}

/// What torchrun's agent does: serves c10d's store, for all attempts.
class Agent {
 public:
  Agent() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork_process([&] {
      c10d::TCPStoreOptions options;
      options.port = 0;
      options.isServer = true;
      options.waitWorkers = false;
      without_libuv(options, 0);
      c10d::TCPStore store("127.0.0.1", options);
      const int port = store.getPort();
      if (write(ends[1], &port, sizeof(port)) != sizeof(port)) return 1;
      while (true) pause();
    });
    close(ends[1]);  // so that the read ends if the agent cannot start
    REQUIRE(read(ends[0], &point_.port, sizeof(point_.port)) == sizeof(point_.port));
    close(ends[0]);
    point_.host = "127.0.0.1";
    point_.agent_store = true;
  }
  ~Agent() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  RendezvousPoint attempt(int number) const {
    RendezvousPoint point = point_;
    point.attempt = number;
    return point;
  }
  /// Returns once all of its threads are stopped.
  void stop() const {
    kill(pid_, SIGSTOP);
    REQUIRE(waitpid(pid_, nullptr, WUNTRACED) == pid_);
  }

 private:
  pid_t pid_ = 0;
  RendezvousPoint point_;
};

/// 0 if the call soon fails with a CommError that contains the text.
int fails_in_time(const std::function<void(Clock::time_point)>& call, const std::string& part) {
  return choose_exit_code(fork_process([&] {
    const Clock::time_point deadline = in(500);
    try {
      call(deadline);
    } catch (const CommError& error) {
      if (Clock::now() > deadline + milliseconds(2000)) return 3;
      if (std::string(error.what()).find(part) != std::string::npos) return 0;
      fmt::print(stderr, "{}\n", error.what());
      return 2;
    }
    return 1;
  }));
}

TEST_CASE("agent store: a ticket is found only by its own attempt") {
  const Agent agent;
  const int failures = choose_exit_code(fork_process([&] {
    const RendezvousTicket first{{"", "10.0.0.1", 1234}, "token1"}, second{{"", "10.0.0.2", 4321}, "token2"};
    leave_ticket(agent.attempt(0), first, in(10'000));
    try {
      await_ticket(agent.attempt(1), in(200));
      return 1;
    } catch (const CommError& error) {
      if (std::string(error.what()).find("rank 0 did not arrive in time") == std::string::npos) throw;
    }
    leave_ticket(agent.attempt(1), second, in(10'000));
    const RendezvousTicket found = await_ticket(agent.attempt(1), in(10'000));
    const RendezvousTicket earlier = await_ticket(agent.attempt(0), in(10'000));
    return found.place.host == "10.0.0.2" && found.place.port == 4321 && found.token == "token2" &&
                   earlier.token == "token1"
               ? 0
               : 3;
  }));
  CHECK(failures == 0);
}

TEST_CASE(
    "agent store: one that is stopped, silent or gone ends every call in time, and the message says whose it is") {
  const auto leave = [](const RendezvousPoint& point) {
    return [point](Clock::time_point deadline) { leave_ticket(point, {{"", "h", 1}, "t"}, deadline); };
  };
  const auto await = [](const RendezvousPoint& point) {
    return [point](Clock::time_point deadline) { await_ticket(point, deadline); };
  };
  RendezvousPoint gone;
  {
    const Agent agent;
    gone = agent.attempt(0);
    agent.stop();
    CHECK(fails_in_time(leave(agent.attempt(0)), "torchrun's store at 127.0.0.1:") == 0);
    CHECK(fails_in_time(await(agent.attempt(0)), "torchrun's store at 127.0.0.1:") == 0);
  }
  CHECK(fails_in_time(leave(gone), "torchrun's store at 127.0.0.1:") == 0);
  CHECK(fails_in_time(await(gone), "torchrun's store at 127.0.0.1:") == 0);
}

TEST_CASE("agent store: the ranks of each attempt find each other, though the store keeps earlier attempts' entries") {
  const Agent agent;
  for (int attempt = 0; attempt < 3; ++attempt) {
    CAPTURE(attempt);
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(fork_process([&] {
        ProcessWorldOptions options;
        options.rank = rank;
        options.size = 3;
        options.rendezvous = agent.attempt(attempt);
        const auto world = ProcessWorld::join(options);
        world->transport()->close();
        return 0;
      }));
    }
    for (const pid_t rank : ranks) CHECK(choose_exit_code(rank) == 0);
  }
}

}  // namespace
}  // namespace lab::comm
