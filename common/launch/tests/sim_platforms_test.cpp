#include <cmath>

#include "common/comm/sim_world.h"
#include "common/launch/tests/sim_timing.h"
#include "common/testing/test.h"

// Simulated networks other than a star, and invalid ones.
namespace lab::launch {
namespace {

TEST_CASE("sim: every platform holds any number of ranks, and each rank reaches each other") {
  for (const std::string& platform : comm::platform_names()) {
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

TEST_CASE("sim: messages share a link by the inverse of their latencies") {
  constexpr std::int64_t kBytes = 1000000;
  const auto outcome = timed(32,
                             [&](PointToPoint& p2p) {
                               if (p2p.rank() == 0) {
                                 Request near = p2p.isend(bytes_on_meta(kBytes), 1);
                                 Request far = p2p.isend(bytes_on_meta(kBytes), 16);
                                 near.wait();
                                 far.wait();
                               }
                               if (p2p.rank() == 1 || p2p.rank() == 16) p2p.recv(bytes_on_meta(kBytes), 0);
                             },
                             {"fat-tree", kAlpha, 1 / kBeta});
  // Over 2 links and 4: from 2 alpha on rank 0's link carries the near message, from 4 alpha on two thirds of it.
  CHECK(is_exactly(seconds_of_rank(outcome, 1), kAlpha + 1.5 * kBytes * kBeta));
  CHECK(is_exactly(seconds_of_rank(outcome, 16), 2 * kAlpha + 2 * kBytes * kBeta));
}

TEST_CASE("sim: ranks of one host are near, and share its link to the others") {
  comm::SimNetwork network{"star", kAlpha, 1 / kBeta};
  network.ranks_per_host = 3;
  const double near_alpha = network.host_latency_seconds, near_beta = 1 / network.host_bytes_per_second;
  constexpr std::int64_t kBytes = 1000000;
  const auto body = [](const std::vector<std::pair<int, int>>& messages) {
    return [=](PointToPoint& p2p) {
      CHECK(p2p.host_of(0) == 0);
      CHECK(p2p.host_of(p2p.rank()) == p2p.rank() / 3);
      std::vector<Request> requests;
      for (const auto& [from, to] : messages) {
        if (p2p.rank() == from) requests.push_back(p2p.isend(bytes_on_meta(kBytes), to));
        if (p2p.rank() == to) requests.push_back(p2p.irecv(bytes_on_meta(kBytes), from));
      }
      for (Request& request : requests) request.wait();
    };
  };
  for (const int size : {6, 8}) {
    CHECK(is_exactly(seconds_of_rank(timed(size, body({{0, 2}}), network), 2), near_alpha + kBytes * near_beta));
    CHECK(is_exactly(seconds_of_rank(timed(size, body({{0, 5}}), network), 5), near_alpha + kAlpha + kBytes * kBeta));
    const auto both = timed(size, body({{0, 3}, {1, 4}, {3, 0}, {0, 1}}), network);
    CHECK(is_exactly(seconds_of_rank(both, 4), near_alpha + kAlpha + 2 * kBytes * kBeta));
  }
}

TEST_CASE("sim: a network that cannot be is refused before anything runs") {
  for (const comm::SimNetwork& network :
       {comm::SimNetwork{"start", 1e-6, 1e9}, comm::SimNetwork{"star", -1, 1e9}, comm::SimNetwork{"star", 1e-6, 0},
        comm::SimNetwork{"star", std::nan(""), 1e9}, comm::SimNetwork{"star", 1e-6, 1e9, 0},
        comm::SimNetwork{"torus", 1e-6, 1e9, 2}}) {
    WorldSpec spec = choose_world<Sim>(2);
    spec.network = network;
    CHECK_THROWS_AS(run_ranks(spec, [](Communicator&) { return TensorMap{}; }), UsageError);
  }
}

}  // namespace
}  // namespace lab::launch
