#include <random>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/model_time.h"
#include "common/testing/test.h"

// Every formula of model_time.md, by hand, with the default rates.
namespace lab::comm {
namespace {

constexpr std::int64_t kUs = 1'000'000;  // picoseconds
constexpr std::int64_t kL = 20 * kUs, kO = 2 * kUs;
constexpr std::uint64_t kBytesPerUs = 2000;
constexpr std::int64_t kFlopsPerUs = 10'000;

TEST_CASE("model clock: an operation takes 100 ps, once") {
  ModelClock clock;
  clock.work(1000);
  CHECK(clock.now() == 100'000);
  clock.work(1000);
  CHECK(clock.now() == 100'000);
  clock.work(1005);
  CHECK(clock.time() == ModelTime{100'500, 100'500, 0, 0});
}

TEST_CASE("model clock: operations that go back, or more than a rank can do, are refused and change nothing") {
  ModelClock clock;
  clock.work(5);
  CHECK_THROWS_AS(clock.work(4), ContractError);
  CHECK_THROWS_AS(clock.work(-1), ContractError);
  CHECK_THROWS_AS(clock.work(kMaxModelFlops + 1), ContractError);
  CHECK(clock.now() == 500);
  clock.work(kMaxModelFlops);
  CHECK(clock.now() == kMaxModelFlops * 100);
}

TEST_CASE("model clock: a send takes o, and is done when its bytes have moved from the later of its two ends") {
  ModelClock early, late;
  CHECK(early.post_send(1000) == kO);
  CHECK(early.now() == kO);
  CHECK(early.wait_send(kO, 0, 1000) == kO + kL + kUs / 2);
  CHECK(early.time() == ModelTime{kO + kL + kUs / 2, 0, kL + kUs / 2, kO});
  late.post_send(1000);
  CHECK(late.wait_send(kO, 100 * kUs, 1000) == 120 * kUs + kUs / 2);
  CHECK(late.now() == 120 * kUs + kUs / 2);
}

TEST_CASE("model clock: a receive arrives L + n/B after the later of its two ends, and then takes o") {
  ModelClock early, late;
  CHECK(early.post_recv() == 0);
  CHECK(early.wait_recv(50 * kUs, 0, kBytesPerUs) == 71 * kUs);
  CHECK(early.time() == ModelTime{73 * kUs, 0, 71 * kUs, kO});
  late.work(100 * kFlopsPerUs);
  CHECK(late.post_recv() == 100 * kUs);
  CHECK(late.wait_recv(kO, 100 * kUs, kBytesPerUs) == 121 * kUs);
  CHECK(late.time() == ModelTime{123 * kUs, 100 * kUs, 21 * kUs, kO});
}

TEST_CASE("model clock: what was posted early travels during work, all of the way or a part of it") {
  ModelClock all, part;
  all.post_recv();
  all.work(100 * kFlopsPerUs);
  CHECK(all.wait_recv(kO, 0, kBytesPerUs) == 23 * kUs);
  CHECK(all.time() == ModelTime{102 * kUs, 100 * kUs, 0, kO});
  part.post_send(kBytesPerUs);
  part.work(5 * kFlopsPerUs);
  part.wait_send(kO, 0, kBytesPerUs);
  CHECK(part.time() == ModelTime{23 * kUs, 5 * kUs, 16 * kUs, kO});
}

TEST_CASE("model clock: each step of a ring takes 2 o + L + n/B") {
  ModelClock clock;  // every rank's
  for (int step = 1; step <= 7; ++step) {
    const std::int64_t sent = clock.post_send(4 * kBytesPerUs);
    const std::int64_t posted = clock.post_recv();
    CHECK(posted == sent);
    clock.wait_recv(sent, posted, 4 * kBytesPerUs);
    clock.wait_send(sent, posted, 4 * kBytesPerUs);
    CHECK(clock.now() == step * (2 * kO + kL + 4 * kUs));
  }
}

TEST_CASE("model clock: the messages of one rank leave one after the other, in the order of posting") {
  ModelClock large, small, empty;
  for (int k = 1; k <= 5; ++k) {
    CHECK(large.post_send(10 * kBytesPerUs) == kO + (k - 1) * 10 * kUs);
    CHECK(small.post_send(kBytesPerUs) == k * kO);  // they leave faster than they are posted
    CHECK(empty.post_send(0) == k * kO);
    CHECK(large.now() == k * kO);
  }
  CHECK(large.post_send(0) == kO + 50 * kUs);  // the port is theirs, although no receiver has been ready
  CHECK(large.wait_send(kO + 40 * kUs, 0, 10 * kBytesPerUs) == kO + 50 * kUs + kL);
}

TEST_CASE("model clock: what several ranks send to one arrives in the order in which it is waited for") {
  ModelClock clock;
  for (int k = 0; k < 3; ++k) clock.post_recv();
  for (int k = 1; k <= 3; ++k) CHECK(clock.wait_recv(kO, 0, 10 * kBytesPerUs) == kO + kL + k * 10 * kUs);
  CHECK(clock.now() == kO + kL + 30 * kUs + kO);
}

TEST_CASE("model clock: a message arrives in the first gap that is long enough for it") {
  ModelClock clock;
  for (int k = 0; k < 7; ++k) clock.post_recv();
  const auto arrives = [&](std::int64_t sent_us, std::int64_t us) {
    return clock.wait_recv(sent_us * kUs, 0, static_cast<std::uint64_t>(us) * kBytesPerUs) / kUs;
  };
  CHECK(arrives(100, 10) == 130);  // 120 to 130
  CHECK(arrives(2, 10) == 32);     // 22 to 32: before it
  CHECK(arrives(2, 10) == 42);     // behind that
  CHECK(arrives(2, 79) == 209);    // the gap from 42 to 120 is too short
  CHECK(arrives(2, 78) == 120);    // it just fits, and the port is taken from 22 to 209
  CHECK(arrives(20, 1) == 210);
  CHECK(arrives(50, 0) == 70);  // without bytes it needs no port
}

TEST_CASE("model clock: once no receive is open, the port's past is forgotten, and nothing changes") {
  ModelClock clock;
  clock.post_recv();
  const std::int64_t first = clock.wait_recv(0, 0, 10 * kBytesPerUs);
  CHECK(first == kL + 10 * kUs);
  const std::int64_t posted = clock.post_recv();
  CHECK(clock.wait_recv(0, posted, 10 * kBytesPerUs) == posted + kL + 10 * kUs);
}

TEST_CASE("model clock: with a receive always open, only the latest gaps are kept") {
  ModelClock clock;
  clock.post_recv();
  const auto arrives = [&](std::int64_t sent_us) {
    clock.post_recv();
    return clock.wait_recv(sent_us * kUs, 0, kBytesPerUs) / kUs;
  };
  for (int k = 0; k < 1024; ++k) CHECK(arrives(3 * k) == 3 * k + 21);
  CHECK(arrives(1) == 22);                    // the first gap: 21 to 23
  CHECK(arrives(3 * 1024) == 3 * 1024 + 21);  // one more interval than are kept
  CHECK(arrives(1) == 25);                    // the rest of the first gap is forgotten
}

TEST_CASE("model clock: a collective begins at the latest clock and takes rounds (2 o + L) + n/B") {
  ModelClock clock;
  clock.work(10 * kFlopsPerUs);
  clock.collective(50 * kUs, nominal_cost("all_reduce", 4, 8000));  // 6 rounds, 12,000 bytes
  CHECK(clock.time() == ModelTime{200 * kUs, 10 * kUs, (40 + 6 * 20 + 6) * kUs, 24 * kUs});

  const auto takes = [](const LedgerEntry& cost) {
    ModelClock fresh;
    fresh.collective(0, cost);
    return fresh.now() / kUs;
  };
  for (const bool is_source : {true, false}) CHECK(takes(nominal_cost("broadcast", 5, 2000, is_source)) == 3 * 24 + 1);
  CHECK(takes(nominal_cost("all_gather", 4, 8000)) == 3 * 24 + 3);
  CHECK(takes(nominal_cost("barrier", 8, 0)) == 3 * 24);
  CHECK(takes(exchange_cost(3, 2000, 6000)) == 2 * 24 + 3);
  CHECK(takes(exchange_cost(3, 4000, 0)) == 2 * 24 + 2);
  CHECK(takes(nominal_cost("all_reduce", 1, 8000)) == 0);
}

TEST_CASE("model clock: restarted, the time is zero, the ports are free and past work does not count") {
  ModelClock clock;
  clock.work(1000);
  clock.post_send(1000 * kBytesPerUs);
  clock.post_recv();
  clock.post_recv();
  clock.wait_recv(0, 0, 1000 * kBytesPerUs);
  clock.restart(5000);
  CHECK(clock.time() == ModelTime{});
  clock.work(5001);
  CHECK(clock.now() == 100);
  CHECK(clock.post_send(0) == 100 + kO);
  clock.post_recv();
  CHECK(clock.wait_recv(0, 0, kBytesPerUs) == kL + kUs);
  CHECK_THROWS_AS(clock.work(4999), ContractError);
}

TEST_CASE("model clock: a machine of other rates keeps them when it is restarted") {
  ModelRates rates;
  rates.ps_per_flop = 1;
  rates.ps_per_byte = 7;
  rates.latency_ps = 1000;
  rates.overhead_ps = 0;
  ModelClock clock(rates);
  for (int turn = 0; turn < 2; ++turn) {
    clock.restart(10);
    clock.work(60);
    CHECK(clock.post_send(10) == 50);
    CHECK(clock.wait_send(50, 0, 10) == 50 + 1000 + 70);
    CHECK(clock.now() == 1120);
  }
}

TEST_CASE("model clock: the total is the sum of work, waiting and overhead, and never goes back") {
  std::mt19937_64 random(7);
  ModelClock clock;
  std::int64_t flops = 0, before = 0;
  std::vector<std::int64_t> open;
  for (int event = 0; event < 2000; ++event) {
    const auto bytes = random() % 5000;
    clock.work(flops += static_cast<std::int64_t>(random() % 1000));
    const std::int64_t peer = clock.now() + static_cast<std::int64_t>(random() % 100'000'000) - 50'000'000;
    switch (random() % 4) {
      case 0: clock.wait_send(clock.post_send(bytes), peer, bytes); break;
      case 1: open.push_back(clock.post_recv()); break;
      case 2: clock.collective(peer, nominal_cost("all_gather", 3, static_cast<std::int64_t>(bytes))); break;
      default:
        if (open.empty()) break;
        const std::int64_t arrived = clock.wait_recv(peer, open.back(), bytes);
        CHECK(arrived + kO <= clock.now());
        open.pop_back();
    }
    const ModelTime& time = clock.time();
    CHECK(time.total >= before);
    CHECK(time.total == time.work + time.waiting + time.overhead);
    CHECK(time.work == flops * 100);
    before = time.total;
  }
}

}  // namespace
}  // namespace lab::comm
