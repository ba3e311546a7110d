#include <cmath>

#include "common/launch/tests/sim_timing.h"
#include "common/testing/test.h"

// The simulated clock against the cost model: n bytes take alpha + n beta, and only one direction of a link is shared.
namespace lab::launch {
namespace {

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
  for (const comm::SimNetwork& network : {comm::SimNetwork{"star", 1e-3, 1e6}, comm::SimNetwork{"star", 0, 2e9}}) {
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
  const int steps = 2 * (kManyRanks - 1) / 16;  // an eighth of one, to keep the test short
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

TEST_CASE("sim: recursive halving and doubling on many ranks moves the right bytes in the right time") {
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

TEST_CASE("sim: a trace is in simulated seconds, and both ends of a message agree on its round") {
  WorldSpec spec = choose_world<Sim>(3);
  spec.traced = true;
  const auto outcome = run_ranks(spec, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    if (p2p.rank() > 0) p2p.recv(bytes_on_meta(1250), p2p.rank() - 1);
    if (p2p.rank() < 2) p2p.send(bytes_on_meta(1250), p2p.rank() + 1);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (std::size_t src = 0; src < 2; ++src) {
    const comm::TraceEvent& sent = outcome.ranks[src].trace.back();
    const comm::TraceEvent& received = outcome.ranks[src + 1].trace.front();
    CHECK(sent.round == src + 1);
    CHECK(received.round == src + 1);
    CHECK(is_exactly(sent.end_seconds, static_cast<double>(src + 1) * 11e-6));
    CHECK(sent.end_seconds == received.end_seconds);
    CHECK(received.start_seconds == 0);
  }
}

}  // namespace
}  // namespace lab::launch
