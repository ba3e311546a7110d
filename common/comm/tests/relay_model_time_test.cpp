#include <unistd.h>

#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// The relay keeps its ranks' model time itself: the ranks only say how much they have computed.
namespace lab::comm {
namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;  // picoseconds
constexpr std::int64_t kFlopsPerMicrosecond = 10'000;

/// Two pieces of work for each rank.
struct TwoPieces final : RelayWork {
  std::map<int, int> num_given;
  std::map<int, std::vector<ModelTime>> spent;  ///< by rank

  std::optional<std::string> next(int rank, pid_t) override {
    if (num_given[rank]++ == 2) return std::nullopt;
    return "piece";
  }
  void done(int rank, pid_t, std::string, const RelayCost& cost) override { spent[rank].push_back(cost.model_time); }
};

/// A rank of the test, which says itself how much it computes.
struct CountingRank {
  const RelayEnd& end;
  std::int64_t& flops;
  Endpoint& endpoint;
  Communicator& comm;
};

/// Two ranks, as threads, and what the relay makes of them.
struct CountedWorld {
  TwoPieces pieces;
  std::vector<ModelTime> last = {{}, {}};
  std::optional<RelayFailure> failure;

  explicit CountedWorld(const std::function<void(CountingRank)>& body, bool gives_work = true) {
    RelayOptions options;
    options.timeout_seconds = 5;
    RelayWorld world(2, options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank, descriptor = ::dup(world.rank_end(rank))] {
        std::int64_t flops = 0;
        const RelayEnd end = RelayWorld::join_by(descriptor, rank, 2);
        const auto endpoint = std::make_shared<Endpoint>(end.transport, false, PayloadLabel(), [&] { return flops; });
        Communicator comm(endpoint, end.collectives);
        testing::get_message<Error>([&] {
          body({end, flops, *endpoint, comm});
          endpoint->close();
        });
      });
    }
    world.serve(gives_work ? &pieces : nullptr);
    for (std::thread& rank : ranks) rank.join();
    failure = world.failure();
    for (int rank = 0; rank < 2; ++rank) last[static_cast<std::size_t>(rank)] = world.bound_model_time(rank);
  }
};

/// Each rank computes 10 us more than the one before, and one sends 20,000 bytes to the other.
void compute_and_send(const CountingRank& self, int turn) {
  PointToPoint& p2p = self.comm.point_to_point();
  const at::Tensor data = at::zeros({20'000}, at::kByte);
  self.flops += (10 * (p2p.rank() + 1) + turn) * kFlopsPerMicrosecond;
  if (p2p.rank() == turn) p2p.send(data, 1 - turn);
  if (p2p.rank() != turn) p2p.recv(data, turn);
  self.flops += 5 * kFlopsPerMicrosecond;
  self.comm.collectives().all_reduce(at::zeros({500}));
}

/// What the ranks themselves count in a world without work, in which they hear each other's model time.
std::vector<ModelTime> own_model_times(int turn) {
  std::vector<ModelTime> own(2);
  const CountedWorld world(
      [&](CountingRank self) {
        compute_and_send(self, turn);
        self.flops += 100 * kFlopsPerMicrosecond;
        own[static_cast<std::size_t>(self.comm.rank())] = self.endpoint.model_time();
      },
      false);
  REQUIRE_FALSE(world.failure);
  return own;
}

TEST_CASE("relay: keeps the same model time as the ranks themselves, from zero for each piece of work") {
  const CountedWorld world([&](CountingRank self) {
    for (int turn = 0; self.end.next_work(); ++turn) {
      compute_and_send(self, turn);
      self.flops += 100 * kFlopsPerMicrosecond;  // belongs to the piece until it is handed in
      self.end.return_result("done");
      self.flops += 1000 * kFlopsPerMicrosecond;  // belongs to none
    }
  });
  REQUIRE_FALSE(world.failure);
  for (const int turn : {0, 1}) {
    const std::vector<ModelTime> own = own_model_times(turn);
    for (const int rank : {0, 1})
      CHECK(world.pieces.spent.at(rank).at(static_cast<std::size_t>(turn)) == own[static_cast<std::size_t>(rank)]);
  }
  // Piece 0: the message moves from 20, when it is expected, and arrives at 50; the collective begins at 57.
  CHECK(world.pieces.spent.at(1)[0] ==
        ModelTime{206 * kMicrosecond, 125 * kMicrosecond, (30 + 41) * kMicrosecond, 10 * kMicrosecond});
}

TEST_CASE("relay: working ranks that agree go on with the last of them, without a message") {
  const CountedWorld world([&](CountingRank self) {
    while (self.end.next_work()) {
      for (int turn = 0; turn < 2; ++turn) {
        if (turn == self.comm.rank()) self.flops += 30 * kFlopsPerMicrosecond;
        self.comm.point_to_point().agree("turn", at::zeros({1}));
      }
      self.end.return_result("done");
    }
  });
  REQUIRE_FALSE(world.failure);
  for (const int rank : {0, 1}) {
    for (const ModelTime& time : world.pieces.spent.at(rank))
      CHECK(time == ModelTime{60 * kMicrosecond, 30 * kMicrosecond, 30 * kMicrosecond, 0});
  }
}

TEST_CASE("relay: what a rank claims to compute reaches no other one that works") {
  std::vector<std::int64_t> heard;
  const CountedWorld world([&](CountingRank self) {
    while (self.end.next_work()) {
      Message message;
      message.peer = 1 - self.comm.rank();
      message.tensor = at::zeros({0});
      message.direction = self.comm.rank() == 0 ? Direction::kSend : Direction::kRecv;
      self.flops += self.comm.rank() == 0 ? 4711 * kFlopsPerMicrosecond : 0;
      Transport& transport = *self.end.transport;
      const auto pending = transport.post(std::move(message));
      transport.wait(*pending);
      self.end.collectives->barrier(whole_world(self.comm.rank(), 2));
      if (self.comm.rank() == 1) {
        heard.push_back(pending->peer_model_posted);
        heard.push_back(self.end.collectives->model_began().value_or(0));
      }
      self.end.return_result("done");
    }
  });
  REQUIRE_FALSE(world.failure);
  CHECK(heard == std::vector<std::int64_t>(4, 0));
  CHECK(world.pieces.spent.at(1)[0].waiting > 4711 * kMicrosecond);
}

TEST_CASE("relay: a rank that claims to compute less changes its own clock, and waits for the others") {
  const CountedWorld world(
      [](CountingRank self) {
        self.flops = self.comm.rank() == 0 ? 100 * kFlopsPerMicrosecond : 0;
        self.comm.collectives().barrier();
      },
      false);
  REQUIRE_FALSE(world.failure);
  for (const ModelTime& time : world.last) CHECK(time.total == 124 * kMicrosecond);
}

TEST_CASE("relay: work that goes backwards, or that nobody can have done, ends the rank") {
  using testing::contains;
  const auto failed = [](std::int64_t first, std::int64_t then, const std::function<void(CountingRank)>& next) {
    const CountedWorld world([&](CountingRank self) {
      if (self.comm.rank() == 1) {
        while (self.end.next_work()) self.end.return_result("done");
        return;
      }
      self.flops = first;
      self.end.next_work();
      self.flops = then;
      next(self);
      self.end.next_work();
    });
    return world.failure ? world.failure->message : "";
  };
  const auto hands_in = [](CountingRank self) { self.end.return_result("done"); };
  const auto says_nothing = [](CountingRank) {};
  CHECK(contains(failed(10, 9, hands_in), "9 floating-point operations so far, 10 before"));
  CHECK(contains(failed(10, 9, says_nothing), "9 floating-point operations so far, 10 before"));
  CHECK(contains(failed(-1, 0, hands_in), "-1 floating-point operations so far, 0 before"));
  for (const std::int64_t claim : {kMaxModelFlops + 1, std::numeric_limits<std::int64_t>::max()}) {
    CHECK(contains(failed(0, 0,
                          [&](CountingRank self) {
                            self.end.transport->set_work_counter([&] { return claim; });
                            self.end.return_result("done");
                          }),
                   "expected no fewer, and at most 1000000000000000"));
  }
  CHECK(contains(failed(10, 9,
                        [](CountingRank self) {
                          Message message;
                          message.peer = 1;
                          message.tensor = at::zeros({1});
                          self.end.transport->post(std::move(message));
                        }),
                 "9 floating-point operations so far, 10 before"));
  CHECK(contains(failed(10, 9, [](CountingRank self) { self.end.collectives->barrier(whole_world(0, 2)); }),
                 "9 floating-point operations so far, 10 before"));
}

}  // namespace
}  // namespace lab::comm
