#include <c10/core/GradMode.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "common/comm/sim_backend.h"
#include "common/launch/tests/worlds.h"
#include "common/tensor/memory_meter.h"
#include "common/testing/test.h"

// What is particular to the simulated world: its clock and cost model, its size, and ranks that share one thread.
namespace lab {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kManyRanks = 32;  // each is a thread then
#else
constexpr int kManyRanks = 1024;
#endif

#if defined(LAB_HAS_SIMGRID)

at::Tensor bytes_on_meta(std::int64_t num_bytes) {
  return at::empty({num_bytes}, at::TensorOptions().dtype(at::kByte).device(at::kMeta));
}

double now(Communicator& comm) {
  return comm.endpoint().transport().now();
}

TensorMap seconds(double value) {
  return {{"seconds", at::full({1}, value, at::kDouble)}};
}

double seconds_of_rank(const WorldOutcome& outcome, int rank) {
  REQUIRE_FALSE(outcome.failure);
  return tensor_of_rank(outcome, rank, "seconds").item<double>();
}

bool is_exactly(double actual, double expected) {
  return std::abs(actual - expected) <= 1e-9 * expected;
}

/// The simulated seconds that the body takes on each rank of a star with the default network.
WorldOutcome timed(int num_ranks, const std::function<void(PointToPoint&)>& body, const SimNetwork& network = {}) {
  WorldSpec spec = world_of<Sim>(num_ranks, 1e6);
  spec.network = network;
  return run_ranks(spec, [&](Communicator& comm) {
    body(comm.point_to_point());
    return seconds(now(comm));
  });
}

constexpr double kAlpha = 10e-6, kBeta = 1 / 1.25e9;

TEST_CASE("sim: one message of n bytes takes alpha + n beta, on both ends") {
  for (const std::int64_t num_bytes : {0, 1, 4, 1000, 1 << 20, 1 << 30}) {
    CAPTURE(num_bytes);
    const auto outcome = timed(2, [&](PointToPoint& p2p) {
      if (p2p.rank() == 0) p2p.send(bytes_on_meta(num_bytes), 1);
      if (p2p.rank() == 1) p2p.recv(bytes_on_meta(num_bytes), 0);
    });
    const double expected = kAlpha + static_cast<double>(num_bytes) * kBeta;
    CHECK(is_exactly(seconds_of_rank(outcome, 0), expected));
    CHECK(is_exactly(seconds_of_rank(outcome, 1), expected));
  }
}

TEST_CASE("sim: another network, other times; without latency, too") {
  for (const SimNetwork& network : {SimNetwork{"star", 1e-3, 1e6}, SimNetwork{"star", 0, 2e9}}) {
    const auto outcome = timed(
        2,
        [&](PointToPoint& p2p) {
          if (p2p.rank() == 0) p2p.send(bytes_on_meta(5000), 1);
          if (p2p.rank() == 1) p2p.recv(bytes_on_meta(5000), 0);
        },
        network);
    CHECK(is_exactly(seconds_of_rank(outcome, 1), network.latency_seconds + 5000 / network.bytes_per_second));
  }
}

TEST_CASE("sim: a thousand messages one after the other take a thousand times as long") {
  const auto outcome = timed(2, [&](PointToPoint& p2p) {
    const at::Tensor value = at::zeros({1});
    for (int i = 0; i < 1000; ++i) {
      if (p2p.rank() == i % 2) p2p.send(value, 1 - p2p.rank());
      if (p2p.rank() != i % 2) p2p.recv(value, 1 - p2p.rank());
    }
  });
  CHECK(is_exactly(seconds_of_rank(outcome, 0), 1000 * (kAlpha + 4 * kBeta)));
}

TEST_CASE("sim: two sends at once share the sender's link, two receives the receiver's") {
  for (const bool one_sends : {true, false}) {
    CAPTURE(one_sends);
    const auto outcome = timed(3, [&](PointToPoint& p2p) {
      const at::Tensor value = bytes_on_meta(125000);
      if (p2p.rank() != 0) {
        one_sends ? p2p.recv(value, 0) : p2p.send(value, 0);
        return;
      }
      Request first = one_sends ? p2p.isend(value, 1) : p2p.irecv(value, 1);
      Request second = one_sends ? p2p.isend(value, 2) : p2p.irecv(value, 2);
      first.wait();
      second.wait();
    });
    for (int rank = 0; rank < 3; ++rank) CHECK(is_exactly(seconds_of_rank(outcome, rank), kAlpha + 250000 * kBeta));
  }
}

TEST_CASE("sim: links are full duplex, and other pairs do not disturb") {
  const auto outcome = timed(6, [&](PointToPoint& p2p) {
    const int peer = p2p.rank() ^ 1;
    const at::Tensor out = bytes_on_meta(125000), in = bytes_on_meta(125000);
    Request sent = p2p.isend(out, peer);
    p2p.recv(in, peer);
    sent.wait();
  });
  for (int rank = 0; rank < 6; ++rank) CHECK(is_exactly(seconds_of_rank(outcome, rank), kAlpha + 125000 * kBeta));
}

TEST_CASE("sim: a ring all-reduce on many ranks takes 2 (P-1) steps of alpha + n/P beta") {
  constexpr std::int64_t kChunkBytes = 1024;
  const int steps = 2 * (kManyRanks - 1) / 16;  // an eighth of one: the test is about the clock, not about patience
  const auto outcome = timed(kManyRanks, [&](PointToPoint& p2p) {
    const at::Tensor out = bytes_on_meta(kChunkBytes), in = bytes_on_meta(kChunkBytes);
    const int size = p2p.size();
    for (int step = 0; step < steps; ++step) {
      Request sent = p2p.isend(out, (p2p.rank() + 1) % size);
      p2p.recv(in, (p2p.rank() + size - 1) % size);
      sent.wait();
    }
  });
  const double expected = steps * (kAlpha + kChunkBytes * kBeta);
  for (const int rank : {0, kManyRanks / 2, kManyRanks - 1})
    CHECK(is_exactly(seconds_of_rank(outcome, rank), expected));
}

TEST_CASE("sim: recursive halving and doubling on many ranks moves what it should in the time that it should") {
  constexpr std::int64_t kBytes = 1 << 20;
  const auto outcome = timed(kManyRanks, [&](PointToPoint& p2p) {
    const auto exchange = [&](int distance) {
      const std::int64_t part = kBytes * distance / p2p.size();
      Request sent = p2p.isend(bytes_on_meta(part), p2p.rank() ^ distance);
      p2p.recv(bytes_on_meta(part), p2p.rank() ^ distance);
      sent.wait();
    };
    for (int distance = p2p.size() / 2; distance >= 1; distance /= 2) exchange(distance);
    for (int distance = 1; distance < p2p.size(); distance *= 2) exchange(distance);
  });
  const double num_steps = 2 * std::log2(kManyRanks);
  const double moved = 2.0 * kBytes * (kManyRanks - 1) / kManyRanks;
  CHECK(is_exactly(seconds_of_rank(outcome, 0), num_steps * kAlpha + moved * kBeta));
  REQUIRE(outcome.ranks.size() == static_cast<std::size_t>(kManyRanks));
  for (const RankOutcome& rank : outcome.ranks) {
    REQUIRE(rank.report.ledger.size() == 1);
    CHECK(static_cast<double>(rank.report.ledger[0].bytes_sent) == moved);
    CHECK(static_cast<double>(rank.report.ledger[0].rounds) == num_steps);
  }
}

TEST_CASE("sim: every platform holds any number of ranks, and each rank reaches each other") {
  for (const std::string& platform : platform_names()) {
    for (const int size : {1, 2, 3, 16, 17, 45}) {
      CAPTURE(platform);
      CAPTURE(size);
      const auto outcome =
          timed(size,
                [&](PointToPoint& p2p) {
                  std::vector<Request> requests;
                  for (int distance = 1; distance < size; ++distance) {
                    requests.push_back(p2p.irecv(bytes_on_meta(8), (p2p.rank() + size - distance) % size));
                    requests.push_back(p2p.isend(bytes_on_meta(8), (p2p.rank() + distance) % size));
                  }
                  for (Request& request : requests) request.wait();
                },
                {platform, kAlpha, 1 / kBeta});
      for (int rank = 0; rank < size; ++rank) CHECK(seconds_of_rank(outcome, rank) >= (size > 1 ? kAlpha : 0));
    }
  }
}

TEST_CASE("sim: farther is slower where hops count") {
  const auto time_to = [](const std::string& platform, int dst_rank) {
    const auto outcome = timed(64,
                               [&](PointToPoint& p2p) {
                                 if (p2p.rank() == 0) p2p.send(bytes_on_meta(0), dst_rank);
                                 if (p2p.rank() == dst_rank) p2p.recv(bytes_on_meta(0), 0);
                               },
                               {platform, kAlpha, 1 / kBeta});
    return seconds_of_rank(outcome, dst_rank);
  };
  CHECK(is_exactly(time_to("torus", 1), kAlpha));          // 4 x 4 x 4: a neighbour
  CHECK(is_exactly(time_to("torus", 42), 6 * kAlpha));     // (2, 2, 2): the opposite corner
  CHECK(is_exactly(time_to("fat-tree", 1), 2 * kAlpha));   // one switch
  CHECK(is_exactly(time_to("fat-tree", 16), 4 * kAlpha));  // up two levels and down again
  CHECK(is_exactly(time_to("dragonfly", 1), 2 * kAlpha));  // one router
  CHECK(time_to("dragonfly", 63) >= 3 * kAlpha);
}

TEST_CASE("sim: a wait longer than the time-out, in simulated seconds, says what for") {
  WorldSpec spec = world_of<Sim>(3, 0.5);
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
  CHECK(contains(sentence_of_rank(outcome, 2), "timed out after 0.5 s: rank 2 waits to receive 1 KiB from rank 0 ("));
  CHECK(contains(sentence_of_rank(outcome, 0), "rank 2 failed: timed out"));
}

TEST_CASE("sim: a message that travels longer than the time-out times out, too") {
  WorldSpec spec = world_of<Sim>(2, 0.5);
  spec.network = {"star", 1e-6, 100};
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    if (comm.rank() == 0) comm.point_to_point().send(at::zeros({100}), 1);
    if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({100}), 0);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(contains(outcome.failure->sentence, "timed out after 0.5 s"));
}

TEST_CASE("sim: the clock stays exact after a long time") {
  const auto outcome = timed(2,
                             [&](PointToPoint& p2p) {
                               for (int i = 0; i < 200; ++i) {  // 100 s each, and a short one
                                 for (const std::int64_t num_bytes : {10000, 1}) {
                                   if (p2p.rank() == 0) p2p.send(bytes_on_meta(num_bytes), 1);
                                   if (p2p.rank() == 1) p2p.recv(bytes_on_meta(num_bytes), 0);
                                 }
                               }
                             },
                             {"star", 1e-6, 100});
  CHECK(is_exactly(seconds_of_rank(outcome, 1), 200 * (2e-6 + 100.01)));
}

TEST_CASE("sim: the grad mode of one rank is not another's") {
  const auto outcome = run_ranks(world_of<Sim>(2), [](Communicator& comm) {
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

TEST_CASE("sim: communication inside backward() is refused") {
  const auto outcome = run_ranks(world_of<Sim>(2), [](Communicator& comm) {
    const at::Tensor weight = at::ones({3}).set_requires_grad(true);
    weight.register_hook([&](at::Tensor gradient) { return comm.collectives().all_reduce(gradient); });
    (weight * weight).sum().backward();
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(contains(outcome.failure->sentence, "rank 0 communicates inside backward()"));
  CHECK(contains(outcome.failure->sentence, "--world threads"));
}

TEST_CASE("sim: each rank's tensors are charged to that rank") {
  const auto outcome = run_ranks(world_of<Sim>(3), [](Communicator& comm) {
    const MemoryScope scope;
    const at::Tensor before = at::zeros({1000 * (comm.rank() + 1)});
    comm.collectives().barrier();
    const at::Tensor after = at::zeros({1000 * (comm.rank() + 1)});
    comm.collectives().barrier();
    return TensorMap{{"current", at::full({1}, scope.reading().current_bytes)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(tensor_of_rank(outcome, rank, "current").item<std::int64_t>() == 8000 * (rank + 1));
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.peak_tensor_bytes >= 8000 * (rank + 1));
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.peak_tensor_bytes < 8000 * (rank + 1) + 1000);
  }
}

TEST_CASE("sim: a rank may communicate while it handles an exception") {
  const auto outcome = run_ranks(world_of<Sim>(4), [](Communicator& comm) {
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
    const auto outcome = run_ranks(world_of<Sim>(3), [&](Communicator& comm) {
      comm.collectives().barrier();
      if (comm.rank() == 1) crashes ? static_cast<void>(std::raise(SIGKILL)) : _exit(0);
      comm.collectives().barrier();
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CAPTURE(outcome.failure->sentence);
    CHECK(outcome.failure->exit_code == (crashes ? 128 + SIGKILL : static_cast<int>(ExitCode::kInternal)));
    CHECK(contains(outcome.failure->sentence, "the process that simulates all ranks "));
    CHECK(contains(outcome.failure->sentence, crashes ? "killed by signal 9" : "exited with code 0"));
    REQUIRE(outcome.ranks.size() == 3);
    CHECK(exit_code_of_rank(outcome, 2) == outcome.failure->exit_code);
  }
}

TEST_CASE("sim: a network that cannot be is refused before anything runs") {
  for (const SimNetwork& network : {SimNetwork{"start", 1e-6, 1e9}, SimNetwork{"star", -1, 1e9},
                                    SimNetwork{"star", 1e-6, 0}, SimNetwork{"star", std::nan(""), 1e9}}) {
    WorldSpec spec = world_of<Sim>(2);
    spec.network = network;
    CHECK_THROWS_AS(run_ranks(spec, [](Communicator&) { return TensorMap{}; }), UsageError);
  }
}

TEST_CASE("sim: a deadlock is found while others' messages travel") {
  const auto outcome = run_ranks(world_of<Sim>(4), [](Communicator& comm) {
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
  CHECK(contains(outcome.failure->sentence, "deadlock: rank 2 waits to receive"));
}

TEST_CASE("sim: a trace is in simulated seconds, and both ends of a message agree on its round") {
  WorldSpec spec = world_of<Sim>(3);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    if (p2p.rank() > 0) p2p.recv(bytes_on_meta(1250), p2p.rank() - 1);
    if (p2p.rank() < 2) p2p.send(bytes_on_meta(1250), p2p.rank() + 1);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (std::size_t src = 0; src < 2; ++src) {
    const TraceEvent& sent = outcome.ranks[src].trace.back();
    const TraceEvent& received = outcome.ranks[src + 1].trace.front();
    CHECK(sent.round == src + 1);
    CHECK(received.round == src + 1);
    CHECK(is_exactly(sent.end_seconds, static_cast<double>(src + 1) * 11e-6));
    CHECK(sent.end_seconds == received.end_seconds);
    CHECK(received.start_seconds == 0);
  }
}

#else

TEST_CASE("sim: a build without SimGrid says so") {
  MESSAGE("skipped: this build has no SimGrid");
  CHECK_THROWS_WITH_AS(run_ranks(world_of<Sim>(kManyRanks), [](Communicator&) { return TensorMap{}; }),
                       "--world sim: this build has no SimGrid; hint: ./lab build installs libsimgrid-dev", UsageError);
}

#endif

}  // namespace
}  // namespace lab
