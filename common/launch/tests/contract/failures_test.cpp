#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <regex>
#include <thread>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Failures: every failure ends every rank, with one message that says why.
namespace lab::launch {
namespace {

/// With "@" for this file's lines, so that whole messages can be compared.
std::string without_lines(const std::string& message) {
  return std::regex_replace(message, std::regex("failures_test\\.cpp:[0-9]+"), "@");
}

TEST_CASE_TEMPLATE("contract: head-to-head sends are a deadlock, however small", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({1});
    p2p.send(value, 1 - p2p.rank());
    p2p.recv(value, 1 - p2p.rank());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
  CHECK(without_lines(outcome.failure->message) ==
        "deadlock: rank 0 waits to send 4 B to rank 1 (@), rank 1 waits to send 4 B to rank 0 (@)");
}

TEST_CASE_TEMPLATE("contract: a cycle of receives among some ranks is found while others work", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(5), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({1});
    if (p2p.rank() < 3) p2p.recv(value, (p2p.rank() + 1) % 3);
    if (p2p.rank() == 3) p2p.recv(value, 4, 1);
    if (p2p.rank() == 4) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      p2p.send(value, 3, 1);
    }
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
  CHECK(contains(outcome.failure->message, "deadlock: rank 0 waits to receive"));
  CHECK(contains(outcome.failure->message, "rank 2 waits to receive"));
  CHECK_FALSE(contains(outcome.failure->message, "rank 3"));
}

TEST_CASE_TEMPLATE("contract: an unequal shape or dtype is refused on both sides and lands nowhere", World,
                   LAB_ALL_WORLDS) {
  for (const std::int64_t length : {6, 600000}) {
    for (const bool wrong_dtype : {false, true}) {
      CAPTURE(length);
      CAPTURE(wrong_dtype);
      const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
        PointToPoint& p2p = comm.point_to_point();
        const at::Tensor target = at::full({length, 1}, 7, wrong_dtype ? at::kInt : at::kFloat);
        try {
          if (p2p.rank() == 0) {
            p2p.send(at::zeros(wrong_dtype ? at::IntArrayRef({length, 1}) : at::IntArrayRef({length + 1, 1})), 1);
            p2p.send(at::zeros({1}), 1);  // a short message may have left before the receiver looked at it
          } else {
            p2p.recv(target, 0);
          }
        } catch (const ContractError&) {
          if (!at::equal(target, at::full_like(target, 7))) throw std::runtime_error("bytes landed");
          throw;
        }
        return TensorMap{};
      });
      REQUIRE(outcome.failure);
      for (int rank = 0; rank < 2; ++rank) {
        CAPTURE(rank);
        CAPTURE(message_of_rank(outcome, rank));
        CHECK(exit_code_of_rank(outcome, rank) == static_cast<int>(ExitCode::kContract));
        CHECK(contains(message_of_rank(outcome, rank), wrong_dtype ? "dtype mismatch: rank 0 sends float32 ["
                                                                   : "shape mismatch: rank 0 sends float32 ["));
        CHECK(contains(message_of_rank(outcome, rank), "to rank 1 (failures_test.cpp:"));
        CHECK(contains(message_of_rank(outcome, rank), ", 1] (failures_test.cpp:"));
      }
    }
  }
}

TEST_CASE_TEMPLATE("contract: a wrong tag is named before a deadlock is", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({2});
    if (p2p.rank() == 0) p2p.send(value, 1, 5);
    if (p2p.rank() == 1) p2p.recv(value, 0, 6);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CAPTURE(outcome.failure->message);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(contains(without_lines(message_of_rank(outcome, rank)),
                   "tag mismatch: rank 0 waits to send 8 B to rank 1 with tag 5 (@), "
                   "rank 1 waits to receive 8 B from rank 0 with tag 6 (@)"));
  }
}

TEST_CASE_TEMPLATE("contract: when a rank throws, every other rank's wait ends and names it", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(5), [](Communicator& comm) -> TensorMap {
    if (comm.rank() == 2) throw std::runtime_error("out of ideas");
    comm.point_to_point().recv(at::zeros({1}), comm.rank() == 4 ? 3 : 2);
    return {};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kInternal));
  CHECK(contains(outcome.failure->message, "out of ideas"));
  for (const int rank : {0, 1, 3, 4}) {
    CHECK(exit_code_of_rank(outcome, rank) == static_cast<int>(ExitCode::kCommunication));
    CHECK(contains(message_of_rank(outcome, rank), "rank 2 failed: out of ideas"));
  }
}

TEST_CASE_TEMPLATE("contract: a failure reaches ranks that are inside a collective", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(5), [](Communicator& comm) -> TensorMap {
    if (comm.rank() == 3) throw NotImplementedError("a0.nothing");
    comm.collectives().all_reduce(at::zeros({100000}));
    return {};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kNotImplemented));
  for (const int rank : {0, 1, 2, 4}) CHECK(contains(message_of_rank(outcome, rank), "rank 3 failed: task a0.nothing"));
}

TEST_CASE_TEMPLATE("contract: what a rank sent before it returned is received by one that gets to run late", World,
                   LAB_PROCESS_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(4), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const std::int64_t num_elements = 1 << 18;
    if (comm.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      p2p.send(at::ones({num_elements}), 0);
    }
    if (comm.rank() != 0) return TensorMap{};
    // While it waits, this thread is kept busy until long after the message, as where others have its core.
    struct sigaction action = {};
    action.sa_handler = [](int) {
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(800)) continue;
    };
    ::sigaction(SIGUSR1, &action, nullptr);
    const auto interrupted = std::async(std::launch::async, [waiting = ::pthread_self()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::pthread_kill(waiting, SIGUSR1);
    });
    const at::Tensor received = at::zeros({num_elements});
    p2p.recv(received, 2);
    TORCH_CHECK(received.sum().item().toLong() == num_elements);
    return TensorMap{};
  });
  CHECK_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
}

TEST_CASE_TEMPLATE("contract: when a rank is killed, the others say so", World, LAB_PROCESS_WORLDS) {
  for (const bool in_large_message : {false, true}) {
    CAPTURE(in_large_message);
    const auto outcome = run_ranks(choose_world<World>(4), [&](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      // Filled before anybody is killed: on a busy machine that takes longer than a rank has to say what it heard.
      const at::Tensor large = at::zeros({in_large_message && (comm.rank() == 1 || comm.rank() == 2) ? 1 << 26 : 1});
      if (comm.rank() == 2) {
        p2p.recv(at::zeros({1}), 1);
        std::thread killer([] {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          kill(getpid(), SIGKILL);
        });
        while (in_large_message) p2p.recv(large, 1);
        killer.join();
      }
      if (comm.rank() == 1) p2p.send(at::zeros({1}), 2);
      while (comm.rank() == 1 && in_large_message) p2p.send(large, 2);
      p2p.recv(at::zeros({1}), (comm.rank() + 1) % 4);
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->exit_code == 128 + SIGKILL);
    CHECK(contains(outcome.failure->message, "killed by signal 9"));
    for (const int rank : {0, 1, 3}) {
      CAPTURE(message_of_rank(outcome, rank));
      CHECK(exit_code_of_rank(outcome, rank) == static_cast<int>(ExitCode::kCommunication));
      CHECK(contains(message_of_rank(outcome, rank), "rank 2 failed: killed by signal 9"));
    }
  }
}

// In `sim`, sleeping takes no time: sim_waits_test.cpp has its own case.
TEST_CASE_TEMPLATE("contract: no wait outlasts the time-out, and it says what for", World, Threads,
                   LAB_PROCESS_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2, 0.3), [](Communicator& comm) {
    if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    comm.point_to_point().recv(at::zeros({256}), 1 - comm.rank());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(exit_code_of_rank(outcome, 1) == static_cast<int>(ExitCode::kCommunication));
  CHECK(contains(message_of_rank(outcome, 1),
                 "timed out after 0.3 s: rank 1 waits to receive 1 KiB from rank 0 (failures_test.cpp:"));
  CAPTURE(message_of_rank(outcome, 0));
  CHECK(contains(message_of_rank(outcome, 0), "timed out after 0.3 s: rank 1 waits"));  // not its own wait
}

TEST_CASE_TEMPLATE("contract: a rank that is stopped amid collectives does not block the others forever", World,
                   LAB_PROCESS_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3, 0.5), [](Communicator& comm) {
    std::thread stopper;
    if (comm.rank() == 1) {
      stopper = std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        kill(getpid(), SIGSTOP);
      });
    }
    const at::Tensor large = at::zeros({1 << 22});
    while (true) comm.collectives().all_reduce(large);
    stopper.join();
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CAPTURE(outcome.failure->message);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kCommunication));
  CHECK(contains(outcome.failure->message, "timed out after 0.5 s"));
}

TEST_CASE_TEMPLATE("contract: waiting for a rank that has returned is reported, and names it", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    if (comm.rank() != 1) comm.point_to_point().recv(at::zeros({1}), comm.rank() == 0 ? 1 : 0);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
  CHECK(without_lines(outcome.failure->message) ==
        "deadlock: rank 0 waits to receive 4 B from rank 1 (@), but rank 1 has already returned");
}

TEST_CASE_TEMPLATE("contract: no rank may send to itself or to a rank that does not exist", World, LAB_ALL_WORLDS) {
  for (const int peer : {0, -1, 2}) {
    for (const bool sends : {true, false}) {
      CAPTURE(peer);
      const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
        if (comm.rank() == 0 && sends) comm.point_to_point().send(at::zeros({1}), peer);
        if (comm.rank() == 0 && !sends) comm.point_to_point().recv(at::zeros({1}), peer);
        return TensorMap{};
      });
      CHECK(exit_code_of_rank(outcome, 0) == static_cast<int>(ExitCode::kContract));
      const std::string action = sends ? "@: rank 0 cannot send to " : "@: rank 0 cannot receive from ";
      CHECK(without_lines(message_of_rank(outcome, 0)) ==
            action + (peer == 0 ? "itself; hint: copy the tensor" : fmt::format("rank {}: expected 0 to 1", peer)));
    }
  }
}

TEST_CASE_TEMPLATE("contract: an undefined tensor is refused with rank and line", World, LAB_ALL_WORLDS) {
  const at::Tensor none;
  const std::vector<std::pair<std::string, std::function<void(Communicator&)>>> operations = {
      {"send to rank 0", [&](Communicator& comm) { comm.point_to_point().send(none, 0); }},
      {"receive from rank 0", [&](Communicator& comm) { comm.point_to_point().recv(none, 0); }},
      {"broadcast", [&](Communicator& comm) { comm.collectives().broadcast(none, 0); }},
      {"all_reduce", [&](Communicator& comm) { comm.collectives().all_reduce(none); }},
      {"all_gather", [&](Communicator& comm) { comm.collectives().all_gather(none); }},
      {"reduce_scatter", [&](Communicator& comm) { comm.collectives().reduce_scatter(none); }},
      {"all_to_all its part for rank 0",
       [&](Communicator& comm) {
         comm.collectives().all_to_all({none, at::zeros({1})}, {{1}, {1}});
       }},
  };
  for (const auto& [action, operation] : operations) {
    const auto outcome = run_ranks(choose_world<World>(2), [&, &act = operation](Communicator& comm) {
      if (comm.rank() == 1) act(comm);
      return TensorMap{};
    });
    CAPTURE(message_of_rank(outcome, 1));
    CHECK(exit_code_of_rank(outcome, 1) == static_cast<int>(ExitCode::kContract));
    CHECK(message_of_rank(outcome, 1).rfind("failures_test.cpp:", 0) == 0);
    CHECK(contains(message_of_rank(outcome, 1), "rank 1 cannot " + action + ": the tensor is undefined; hint: "));
  }
}

TEST_CASE_TEMPLATE("contract: a request that is never waited for fails the run", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    if (p2p.rank() == 0) (void)p2p.isend(at::zeros({1}), 1);
    if (p2p.rank() == 1) p2p.recv(at::zeros({1}), 0);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(
      without_lines(outcome.failure->message) ==
      "rank 0: rank 0 dropped its isend to rank 1 (@) without waiting for it; hint: keep the Request and call wait()");
}

TEST_CASE_TEMPLATE("contract: collectives that differ between ranks are refused", World, LAB_ALL_WORLDS) {
  SUBCASE("in shape") {
    const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
      comm.collectives().all_reduce(at::zeros({comm.rank() == 1 ? 5 : 4}));
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
    CHECK(contains(outcome.failure->message, "shape mismatch in all_reduce"));
    CHECK(contains(outcome.failure->message, "[5]"));
  }
  SUBCASE("in operation") {
    const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
      if (comm.rank() == 2) comm.collectives().barrier();
      comm.collectives().all_gather(at::zeros({4}));
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
    CHECK(contains(outcome.failure->message, "operation mismatch"));
    CHECK(contains(outcome.failure->message, "barrier"));
  }
  SUBCASE("in number") {
    const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
      if (comm.rank() != 1) comm.collectives().barrier();
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
    CHECK(contains(outcome.failure->message, "rank 1 has already returned"));
  }
}

}  // namespace
}  // namespace lab::launch
