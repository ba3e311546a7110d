#include "common/comm/messages/get_endpoint.h"
#include "common/launch/tests/contract/model_timing.h"

// Every world keeps the same model time of messages and work, to the picosecond.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: model time of one message, short or long", World, LAB_ALL_WORLDS) {
  for (const std::int64_t length : {1, 40}) {
    CAPTURE(length);
    const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
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
    const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
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
    const auto outcome = run_ranks(choose_world<World>(size), [](Communicator& comm) {
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
  const auto outcome = run_ranks(choose_world<World>(4), [](Communicator& comm) {
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

TEST_CASE_TEMPLATE("contract: in model time, ranks that agree go on with the last of them", World, LAB_ALL_WORLDS) {
  for (const int size : kSizes) {
    CAPTURE(size);
    const auto outcome = run_ranks(choose_world<World>(size), [](Communicator& comm) {
      work_us(10 * (comm.rank() + 1));
      comm.point_to_point().agree("turn", at::zeros({1}));
      work_us(1);
      const comm::Ledger& ledger = get_endpoint(comm).ledger();
      return TensorMap{{"agreed", at::scalar_tensor(static_cast<std::int64_t>(ledger.of("agree").calls), at::kLong)},
                       {"sent", at::scalar_tensor(static_cast<std::int64_t>(ledger.total().messages), at::kLong)}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < size; ++rank) {
      check_us(outcome, rank, 10 * (rank + 1) + 1, 10 * (size - 1 - rank), 0);
      CHECK(tensor_of_rank(outcome, rank, "agreed").template item<std::int64_t>() == 1);
      CHECK(tensor_of_rank(outcome, rank, "sent").template item<std::int64_t>() == 0);
    }
    const auto turns = run_ranks(choose_world<World>(size), [](Communicator& comm) {
      for (int turn = 0; turn < comm.size(); ++turn) {
        if (turn == comm.rank()) work_us(100);
        comm.point_to_point().agree("turn", at::zeros({1}));
      }
      return TensorMap{};
    });
    REQUIRE_FALSE(turns.failure);
    for (int rank = 0; rank < size; ++rank) check_us(turns, rank, 100, 100 * (size - 1), 0);
  }
}

TEST_CASE_TEMPLATE("contract: in model time, a message that was posted early travels during work", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
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
    const auto outcome = run_ranks(choose_world<World>(4), [&](Communicator& comm) {
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

TEST_CASE_TEMPLATE("contract: one rank's model time is its work", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(1), [](Communicator& comm) {
    work_us(3);
    comm.collectives().all_reduce(at::zeros({10}));
    comm.collectives().barrier();
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  check_us(outcome, 0, 3, 0, 0);
}

TEST_CASE_TEMPLATE("contract: model time of more work than a rank can do ends at a bound", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    const at::Tensor large = at::empty({1 << 20, 1 << 20}, at::TensorOptions().device(at::kMeta));
    at::mm(large, large);  // 2^61 operations
    comm.collectives().barrier();
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(outcome.ranks[static_cast<std::size_t>(rank)].report.flops == std::int64_t{1} << 61);
    CHECK(time_of_rank(outcome, rank).work == comm::kMaxModelFlops * 100);
    CHECK(time_of_rank(outcome, rank).total == comm::kMaxModelFlops * 100 + 2 * kO + kL);
  }
}

TEST_CASE_TEMPLATE("contract: model time starts at zero again when the clock is restarted", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    work_us(1000);
    Endpoint& endpoint = get_endpoint(comm);
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
  WorldSpec spec = choose_world<World>(2);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    work_us(10);
    if (comm.rank() == 0) comm.point_to_point().send(data_us(3), 1);
    if (comm.rank() == 1) comm.point_to_point().recv(data_us(3), 0);
    work_us(1);
    get_endpoint(comm).record_computation("F0", 0, 0);
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
  const auto expected = run_ranks(choose_world<Threads>(5), mixed_program);
  REQUIRE_FALSE(expected.failure);
  CHECK(time_of_rank(expected, 4).total > time_of_rank(expected, 3).total);
  for (int turn = 0; turn < 3; ++turn) {
    const auto outcome = run_ranks(choose_world<World>(5), mixed_program);
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < 5; ++rank) CHECK(time_of_rank(outcome, rank) == time_of_rank(expected, rank));
  }
}

TEST_CASE("relay: model times are the same when the order of things is shaken") {
  const auto expected = run_ranks(choose_world<Threads>(5), mixed_program);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WorldSpec spec = choose_world<Relay>(5);
    spec.shake_seed = seed;
    const auto outcome = run_ranks(spec, mixed_program);
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < 5; ++rank) CHECK(time_of_rank(outcome, rank) == time_of_rank(expected, rank));
  }
}

}  // namespace
}  // namespace lab::launch
