#include <unistd.h>

#include <functional>
#include <map>
#include <thread>
#include <tuple>

#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/relay/rank_tracer.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// The relay traces its ranks itself, from the messages that pass through it.
namespace lab::comm {
namespace {

/// Two pieces of work for each rank, and what the relay has seen of each.
struct TracedPieces final : RelayWork {
  std::map<int, int> num_given;
  std::map<int, std::vector<RankTrace>> traces;

  std::optional<std::string> next(int rank, pid_t) override {
    if (num_given[rank]++ == 2) return std::nullopt;
    return "piece";
  }
  void done(int rank, pid_t, std::string, const RelayCost& cost) override { traces[rank].push_back(cost.trace); }
};

struct TracedWorld {
  TracedPieces pieces;
  std::vector<std::vector<TraceEvent>> own =
      std::vector<std::vector<TraceEvent>>(2);  ///< as the ranks trace themselves
  std::vector<RankTrace> last;
  std::optional<RelayFailure> failure;

  explicit TracedWorld(const std::function<void(Communicator&, std::int64_t& flops)>& piece, bool gives_work = true) {
    RelayOptions options;
    options.timeout_seconds = 5;
    RelayWorld world(2, options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank, descriptor = ::dup(world.rank_end(rank))] {
        std::int64_t flops = 0;
        const RelayEnd end = RelayWorld::join_by(descriptor, rank, 2);
        const auto endpoint = std::make_shared<Endpoint>(end.transport, true, PayloadLabel(), [&] { return flops; });
        Communicator comm(endpoint, end.collectives);
        const std::string message = testing::get_message<Error>([&] {
          if (!gives_work) piece(comm, flops);
          while (gives_work && end.next_work()) {
            piece(comm, flops);
            end.return_result("done");
          }
          endpoint->close();
        });
        if (!message.empty()) end.transport->fail(ExitCode::kCommunication, message);
        own[static_cast<std::size_t>(rank)] = endpoint->trace();
      });
    }
    world.serve(gives_work ? &pieces : nullptr);
    for (std::thread& rank : ranks) rank.join();
    failure = world.failure();
    for (int rank = 0; rank < 2; ++rank) last.push_back(world.read_trace(rank));
  }
};

using Facts = std::tuple<TraceKind, Direction, int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::string>;

std::vector<Facts> list_facts(const std::vector<TraceEvent>& events) {
  std::vector<Facts> facts;
  for (const TraceEvent& event : events) {
    const bool is_message = event.kind == TraceKind::kMessage;
    facts.emplace_back(event.kind, is_message ? event.direction : Direction::kSend, event.peer, event.tag,
                       is_message ? event.bytes : 0, event.model_start, event.model_posted, event.model_end,
                       event.model_arrived, event.model_waited, event.operation);
  }
  return facts;
}

TEST_CASE("relay: it traces each piece of work as ranks trace themselves where they hear each other's model time") {
  const auto piece = [](Communicator& comm, std::int64_t& flops) {
    PointToPoint& p2p = comm.point_to_point();
    const int other = 1 - p2p.rank();
    flops += 100'000 * (1 + p2p.rank());
    const at::Tensor data = at::zeros({1000}), received = at::empty({1000});
    Request send = p2p.isend(data, other, 5);
    flops += 300'000;
    p2p.recv(received, other, 5);
    send.wait();
    comm.collectives().all_reduce(data);
    flops += 50'000;
  };
  const TracedWorld world(piece), alone(piece, false);
  CHECK_FALSE(world.failure);
  CHECK_FALSE(alone.failure);
  for (int rank = 0; rank < 2; ++rank) {
    CAPTURE(rank);
    const std::vector<RankTrace>& traces = world.pieces.traces.at(rank);
    REQUIRE(traces.size() == 2);
    for (const RankTrace& trace : traces) {
      CHECK(trace.events.size() == 3);
      CHECK((list_facts(trace.events) == list_facts(alone.own[static_cast<std::size_t>(rank)])));
    }
    CHECK(traces[0].events[0].where.rfind("relay_trace_test.cpp:", 0) == 0);
    CHECK(traces[0].length_ps == traces[0].events.back().model_end + 5'000'000);
    CHECK_FALSE(traces[0].is_cut);
  }
}

TEST_CASE("relay: of a deadlock, it has the waits that were in vain, and who proves it") {
  const TracedWorld world(
      [](Communicator& comm, std::int64_t&) { comm.point_to_point().send(at::zeros({4}), 1 - comm.rank()); });
  REQUIRE(world.failure);
  CHECK(world.failure->stuck_ranks == std::vector<int>{0, 1});
  for (const RankTrace& trace : world.last) {
    REQUIRE(trace.events.size() == 1);
    CHECK(never_completed(trace.events[0]));
    CHECK(trace.events[0].bytes == 16);
  }
  CHECK((list_facts(world.last[0].events) == list_facts(world.own[0])));
}

TEST_CASE("relay: a collective that not all members begin is in the trace of those that have") {
  const TracedWorld world([](Communicator& comm, std::int64_t&) {
    if (comm.rank() == 0) comm.collectives().all_reduce(at::zeros({1}));
    if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({1}), 0);
  });
  REQUIRE(world.failure);
  REQUIRE(world.last[0].events.size() == 1);
  CHECK(world.last[0].events[0].kind == TraceKind::kCollective);
  CHECK(testing::contains(world.last[0].events[0].operation, "which not all members began"));
}

TEST_CASE("relay: of endless messages and of their names, it keeps a part") {
  RankTracer tracer;
  Message message;
  message.tensor = at::zeros({1});
  message.operation = std::string(5000, 'x');
  message.where = {"\x1b[31m<script>\n\xff", 3};
  for (int i = 0; i < 100'000; ++i) {
    message.tag = i;
    Pending pending{Message(message)};
    pending.event = tracer.post(message, i);
    tracer.end_message(pending, i, i, 0);
  }
  const RankTrace trace = tracer.trace(1);
  CHECK(trace.events.size() == RankTracer::kMostEvents);
  CHECK(trace.is_cut);
  CHECK(trace.events[0].operation.size() < 120);
  CHECK(trace.events[0].where.find('\n') == std::string::npos);
  CHECK(trace.events[0].where.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace lab::comm
