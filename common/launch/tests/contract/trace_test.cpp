#include <algorithm>

#include "common/comm/messages/get_endpoint.h"
#include "common/testing/lost_in_viewers.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What every world records about its messages: sums in the ledger, both ends in a trace.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: the ledger counts messages, bytes and the longest chain of steps", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(4), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({10});
    if (p2p.rank() > 0) p2p.recv(value, p2p.rank() - 1);  // a chain: each rank is one step further
    if (p2p.rank() < 3) p2p.send(value, p2p.rank() + 1);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 4; ++rank) {
    const std::vector<LedgerEntry>& ledger = outcome.ranks[static_cast<std::size_t>(rank)].report.ledger;
    REQUIRE(ledger.size() == 1);
    CHECK(ledger[0].operation == "message");
    CHECK(ledger[0].messages == (rank < 3 ? 1 : 0));
    CHECK(ledger[0].bytes_sent == (rank < 3 ? 40 : 0));
    CHECK(ledger[0].bytes_received == (rank > 0 ? 40 : 0));
    CHECK(ledger[0].rounds == static_cast<std::uint64_t>(std::min(rank + 1, 3)));
  }
}

TEST_CASE_TEMPLATE("contract: a trace holds both ends of every message", World, LAB_ALL_WORLDS) {
  WorldSpec spec = choose_world<World>(2);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({25});
    for (int i = 0; i < 2; ++i) {
      if (p2p.rank() == 0) p2p.send(value, 1, 9);
      if (p2p.rank() == 1) p2p.recv(value, 0, 9);
    }
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (std::size_t i = 0; i < 2; ++i) {
    const comm::TraceEvent& sent = outcome.ranks[0].trace.at(i);
    const comm::TraceEvent& received = outcome.ranks[1].trace.at(i);
    CHECK(sent.direction == comm::Direction::kSend);
    CHECK(received.direction == comm::Direction::kRecv);
    CHECK(sent.peer == 1);
    CHECK(sent.sequence == i);
    CHECK(received.sequence == i);
    CHECK(sent.tag == 9);
    CHECK(received.bytes == 100);
    CHECK(contains(sent.where, "trace_test.cpp:"));
    CHECK(sent.start_seconds <= sent.end_seconds);
    CHECK(sent.start_seconds <= received.end_seconds);  // one clock for all ranks
  }
}

TEST_CASE_TEMPLATE("contract: viewers show each message of a Chrome trace, however many are under way", World,
                   LAB_ALL_WORLDS) {
  WorldSpec spec = choose_world<World>(4);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    std::vector<at::Tensor> values(16);
    std::vector<Request> requests;
    for (int round = 0; round < 2; ++round) {
      for (int peer = 0; peer < 4; ++peer) {
        if (peer == comm.rank()) continue;
        values[static_cast<std::size_t>(8 * round + peer)] = at::zeros({25});
        requests.push_back(
            comm.point_to_point().irecv(values[static_cast<std::size_t>(8 * round + peer)], peer, round));
        requests.push_back(comm.point_to_point().isend(at::ones({25}), peer, round));
      }
    }
    for (Request& request : requests) request.wait();
    comm.collectives().barrier();
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<comm::TraceEvent> events;
  for (const RankOutcome& rank : outcome.ranks) events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  const auto trace = nlohmann::json::parse(comm::chrome_trace_json(events));
  CHECK(testing::lost_in_viewers(trace) == "");
  const auto count = [&](const char* phase) {
    return std::count_if(trace.at("traceEvents").begin(), trace.at("traceEvents").end(),
                         [&](const auto& event) { return event.at("ph") == phase && event.at("cat") == "message"; });
  };
  CHECK(count("s") == 48);  // 24 messages, on two clocks
  CHECK(count("f") == 48);
  CHECK(count("X") == 96);
}

TEST_CASE_TEMPLATE("contract: a trace knows when a message was there, however late it was waited for", World,
                   LAB_WORLDS_OF_ONE_PROCESS) {
  constexpr double kLate = 0.2;
  WorldSpec spec = choose_world<World>(2);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor value = at::zeros({25});
    comm.collectives().barrier();
    if (p2p.rank() == 0) p2p.send(value, 1);
    if (p2p.rank() == 1) {
      Request request = p2p.irecv(value, 0);
      get_endpoint(comm).transport().pass_time(kLate);
      request.wait();
    }
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  const auto get_message = [&](std::size_t rank) {
    const std::vector<comm::TraceEvent>& trace = outcome.ranks[rank].trace;
    return *std::find_if(trace.begin(), trace.end(),
                         [](const auto& event) { return event.kind == comm::TraceKind::kMessage; });
  };
  const comm::TraceEvent sent = get_message(0), received = get_message(1);
  CHECK(received.arrived_seconds == sent.arrived_seconds);
  CHECK(received.arrived_seconds >= sent.start_seconds);
  CHECK(received.arrived_seconds <= sent.end_seconds);
  CHECK(received.end_seconds - received.start_seconds >= kLate);
}

TEST_CASE_TEMPLATE("contract: a label says what each payload is, on both ends", World, LAB_ALL_WORLDS) {
  WorldSpec spec = choose_world<World>(2);
  spec.traced = true;
  spec.payload_label = [](const at::Tensor& payload) { return "value " + std::to_string(payload.item<int>()); };
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    for (int i = 0; i < 2; ++i) {
      const at::Tensor value = at::full({1}, p2p.rank() == 0 ? 10 + i : 0, at::kInt);
      if (p2p.rank() == 0) p2p.send(value, 1);
      if (p2p.rank() == 1) p2p.recv(value, 0);
    }
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) {
    REQUIRE(rank.trace.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(rank.trace[i].label == "value 1" + std::to_string(i));
      CHECK(rank.trace[i].round == i + 1);
    }
  }
}

}  // namespace
}  // namespace lab::launch
