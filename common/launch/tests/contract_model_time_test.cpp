#include <ATen/ATen.h>

#include <algorithm>

#include "common/comm/messages/endpoint_of.h"
#include "common/comm/messages/ledger.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Every world keeps the same model time, to the picosecond: that of the formulas in comm/model_time.md.
namespace lab::launch {
namespace {

constexpr std::int64_t kUs = 1'000'000;  // picoseconds
constexpr std::int64_t kL = 20 * kUs, kO = 2 * kUs;
constexpr std::int64_t kFlopsPerUs = 10'000;
constexpr int kSizes[] = {2, 3, 4, 5, 8};

void work_us(std::int64_t microseconds) {
  if (microseconds > 0) at::ones({microseconds * kFlopsPerUs}).add_(1);
}

/// 2,000 bytes take a microsecond. 40 us have a payload of their own, in every world.
at::Tensor data_us(std::int64_t microseconds) {
  return at::zeros({microseconds * 2000}, at::kByte);
}

ModelTime time_of_rank(const WorldOutcome& outcome, int rank) {
  return outcome.ranks[static_cast<std::size_t>(rank)].report.model_time;
}

void check_us(const WorldOutcome& outcome, int rank, std::int64_t work, std::int64_t waiting, std::int64_t overhead) {
  CAPTURE(rank);
  const ModelTime time = time_of_rank(outcome, rank);
  CHECK(time.work == work * kUs);
  CHECK(time.waiting == waiting * kUs);
  CHECK(time.overhead == overhead * kUs);
  CHECK(time.total == (work + waiting + overhead) * kUs);
}

TEST_CASE_TEMPLATE("contract: model time of one message, short or long", World, LAB_ALL_WORLDS) {
  for (const std::int64_t length : {1, 40}) {
    CAPTURE(length);
    const auto outcome = run_ranks(world_of<World>(2), [&](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      if (p2p.rank() == 0) {
        work_us(100);
        p2p.send(data_us(length), 1);
      } else {
        p2p.recv(data_us(length), 0);
        work_us(7);  // at the end it counts, too
      }
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    check_us(outcome, 0, 100, 20 + length, 2);
    check_us(outcome, 1, 7, 122 + length, 2);
  }
}

TEST_CASE_TEMPLATE("contract: model time of a send whose receiver is late", World, LAB_ALL_WORLDS) {
  for (const std::int64_t length : {1, 40}) {
    const auto outcome = run_ranks(world_of<World>(2), [&](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      for (int turn = 0; turn < 4; ++turn) {
        if (p2p.rank() == 1) work_us(100);
        if (p2p.rank() == 0) p2p.send(data_us(length), 1, turn / 2);
        if (p2p.rank() == 1) p2p.recv(data_us(length), 0, turn / 2);
      }
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    // The receiver posts its k-th receive at k 100 + (k-1) (22 + length).
    check_us(outcome, 1, 400, 4 * (20 + length), 8);
    check_us(outcome, 0, 0, 400 + 3 * (22 + length) + 20 + length - 8, 8);
  }
}

TEST_CASE_TEMPLATE("contract: model time of a ring: 2 o + L + n/B a step", World, LAB_ALL_WORLDS) {
  for (const int size : kSizes) {
    CAPTURE(size);
    const auto outcome = run_ranks(world_of<World>(size), [](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      const int next = (p2p.rank() + 1) % p2p.size(), previous = (p2p.rank() + p2p.size() - 1) % p2p.size();
      for (int step = 1; step < p2p.size(); ++step) {
        Request sent = p2p.isend(data_us(3), next);
        p2p.recv(data_us(3), previous);
        sent.wait();
      }
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < size; ++rank) check_us(outcome, rank, 0, (size - 1) * 23, (size - 1) * 4);
  }
}

TEST_CASE_TEMPLATE("contract: model time of a chain in which every rank computes", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(world_of<World>(4), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    if (p2p.rank() > 0) p2p.recv(data_us(5), p2p.rank() - 1);
    work_us(10 * (p2p.rank() + 1));
    if (p2p.rank() < 3) p2p.send(data_us(5), p2p.rank() + 1);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  std::int64_t total = 0;
  for (int rank = 0; rank < 4; ++rank) {
    total += 10 * (rank + 1) + (rank > 0 ? 2 : 0) + (rank < 3 ? 27 : 0);  // o + work + o + L + n/B
    CHECK(time_of_rank(outcome, rank).total == total * kUs);
    CHECK(time_of_rank(outcome, rank).work == 10 * (rank + 1) * kUs);
  }
}

TEST_CASE_TEMPLATE("contract: in model time, a message that was posted early travels during work", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(world_of<World>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor data = data_us(40);
    if (p2p.rank() == 0) {
      Request sent = p2p.isend(data, 1);
      work_us(50);
      sent.wait();
    } else {
      Request received = p2p.irecv(data, 0);
      work_us(100);
      received.wait();
    }
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  check_us(outcome, 0, 50, 62 - 52, 2);
  check_us(outcome, 1, 100, 0, 2);
}

TEST_CASE_TEMPLATE("contract: model time of one rank that sends to all, and of one that receives from all", World,
                   LAB_ALL_WORLDS) {
  for (const bool scatters : {true, false}) {
    CAPTURE(scatters);
    const auto outcome = run_ranks(world_of<World>(4), [&](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      if (p2p.rank() != 0) {
        if (scatters) p2p.recv(data_us(10), 0);
        if (!scatters) p2p.send(data_us(10), 0);
        return TensorMap{};
      }
      std::vector<Request> requests;
      for (int peer = 1; peer < 4; ++peer)
        requests.push_back(scatters ? p2p.isend(data_us(10), peer) : p2p.irecv(data_us(10), peer));
      for (Request& request : requests) request.wait();
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    if (scatters) {
      for (int k = 1; k <= 3; ++k) check_us(outcome, k, 0, 22 + 10 * k, 2);
      check_us(outcome, 0, 0, 52 - 6, 6);
    } else {
      for (int k = 1; k <= 3; ++k) check_us(outcome, k, 0, 30, 2);  // not the receiver's port
      check_us(outcome, 0, 0, 32 + 8 + 8, 6);                       // the overhead of a receive hides the next's bytes
    }
  }
}

TEST_CASE_TEMPLATE("contract: in model time, a collective begins when its last member has called it", World,
                   LAB_ALL_WORLDS) {
  for (const int size : kSizes) {
    CAPTURE(size);
    const auto outcome = run_ranks(world_of<World>(size), [&](Communicator& comm) {
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
  const auto outcome = run_ranks(world_of<World>(3), [](Communicator& comm) {
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
  const auto outcome = run_ranks(world_of<World>(5), [](Communicator& comm) {
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

TEST_CASE_TEMPLATE("contract: one rank's model time is its work", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(world_of<World>(1), [](Communicator& comm) {
    work_us(3);
    comm.collectives().all_reduce(at::zeros({10}));
    comm.collectives().barrier();
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  check_us(outcome, 0, 3, 0, 0);
}

TEST_CASE_TEMPLATE("contract: model time starts at zero again when the clock is restarted", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(world_of<World>(2), [](Communicator& comm) {
    work_us(1000);
    Endpoint& endpoint = endpoint_of(comm);
    endpoint.restart_clock();
    CHECK(endpoint.model_time() == ModelTime{});
    work_us(5);
    CHECK(endpoint.model_time().total == 5 * kUs);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 2; ++rank) check_us(outcome, rank, 5, 0, 0);
}

TEST_CASE_TEMPLATE("contract: a trace has model times", World, LAB_ALL_WORLDS) {
  WorldSpec spec = world_of<World>(2);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    work_us(10);
    if (comm.rank() == 0) comm.point_to_point().send(data_us(3), 1);
    if (comm.rank() == 1) comm.point_to_point().recv(data_us(3), 0);
    work_us(1);
    endpoint_of(comm).record_computation("F0", 0, 0);
    comm.collectives().barrier();
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) {
    const bool sends = rank.report.rank == 0;
    REQUIRE(rank.trace.size() == 3);
    CHECK(rank.trace[0].model_start == 10 * kUs);
    CHECK(rank.trace[0].model_arrived == 35 * kUs);
    CHECK(rank.trace[0].model_end == (sends ? 35 : 37) * kUs);
    CHECK(rank.trace[1].model_start == rank.trace[0].model_end);
    CHECK(rank.trace[1].model_end == rank.trace[0].model_end + kUs);
    CHECK(rank.trace[1].model_arrived < 0);
    CHECK(rank.trace[2].model_start == rank.trace[1].model_end);
    CHECK(rank.trace[2].model_end == (38 + 24) * kUs);
  }
}

/// Something of everything, with work that is different on each rank.
TensorMap mixed_program(Communicator& comm) {
  PointToPoint& p2p = comm.point_to_point();
  const int size = p2p.size(), rank = p2p.rank();
  std::vector<at::Tensor> received;
  std::vector<Request> requests;
  for (int distance = 1; distance < size; ++distance) {
    received.push_back(data_us(rank + 1));
    requests.push_back(p2p.irecv(received.back(), (rank + distance) % size));
    work_us(3 * rank);
    const int dst = (rank + size - distance) % size;
    requests.push_back(p2p.isend(data_us(dst + 1), dst));
  }
  work_us(20);
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) request->wait();
  comm.collectives().all_reduce(at::zeros({10 * size}));
  if (rank > 0) p2p.recv(data_us(1), rank - 1);
  work_us(rank);
  if (rank + 1 < size) p2p.send(data_us(1), rank + 1);
  return {};
}

TEST_CASE_TEMPLATE("contract: model times are those of the threads, in every run", World, LAB_ALL_WORLDS) {
  const auto expected = run_ranks(world_of<Threads>(5), mixed_program);
  REQUIRE_FALSE(expected.failure);
  CHECK(time_of_rank(expected, 4).total > time_of_rank(expected, 3).total);
  for (int turn = 0; turn < 3; ++turn) {
    const auto outcome = run_ranks(world_of<World>(5), mixed_program);
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < 5; ++rank) CHECK(time_of_rank(outcome, rank) == time_of_rank(expected, rank));
  }
}

TEST_CASE("relay: model times are the same when the order of things is shaken") {
  const auto expected = run_ranks(world_of<Threads>(5), mixed_program);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WorldSpec spec = world_of<Relay>(5);
    spec.shake_seed = seed;
    const auto outcome = run_ranks(spec, mixed_program);
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < 5; ++rank) CHECK(time_of_rank(outcome, rank) == time_of_rank(expected, rank));
  }
}

TEST_CASE_TEMPLATE("contract: where ranks do not agree first, each begins a collective at its own model time", World,
                   Threads, Processes) {
  WorldSpec spec = world_of<World>(3);
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
  const auto outcome = run_ranks(world_of<World>(3), [](Communicator& comm) {
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
