#include <unistd.h>

#include <array>
#include <random>
#include <thread>

#include "common/comm/shm/lane.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

/// A world that never fails.
class NoGuard final : public WaitGuard {
 public:
  void wait(Wait& wait, const Message&) override { CHECK(wait.wait() == Wait::End::kComplete); }
  void check() override {}
  [[noreturn]] void connection_lost() override { throw CommError("lost"); }
  void set_task(const std::string&) override {}
  void close() override {}
  void fail(ExitCode, const std::string&, int) override {}
};

Message message_to(int peer, Direction direction, const at::Tensor& tensor, int tag = 0) {
  Message message;
  message.direction = direction;
  message.peer = peer;
  message.tag = tag;
  message.tensor = tensor;
  return message;
}

/// Two ranks that are threads of this process, each with its own view of one segment.
class Pair {
 public:
  explicit Pair(bool readable, bool spins = false) {
    const std::shared_ptr<ShmSegment> first = ShmSegment::create(2);
    const std::shared_ptr<ShmSegment> second = ShmSegment::open(::getpid(), first->descriptor(), 2);
    for (int rank = 0; rank < 2; ++rank) {
      Neighbours neighbours;
      neighbours.segment = rank == 0 ? first : second;
      neighbours.self = rank;
      for (int other = 0; other < 2; ++other) neighbours.members.push_back({other, ::getpid(), readable});
      lanes_[static_cast<std::size_t>(rank)] = lane_over_memory(neighbours, guard_, spins);
    }
  }

  NearLane& lane(int rank) { return *lanes_[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<ProcessPending> post(int rank, Direction direction, const at::Tensor& tensor, int tag = 0) {
    return lane(rank).post(message_to(1 - rank, direction, tensor, tag));
  }

 private:
  NoGuard guard_;
  std::array<std::unique_ptr<NearLane>, 2> lanes_;
};

at::Tensor filled(std::int64_t num_bytes, int value) {
  return at::full({num_bytes}, value % 251, at::kByte);
}

/// Both ranks post many messages of all lengths to each other, with three tags, and wait for them in random order.
int num_wrong_of_many(Pair& pair, int rank) {
  constexpr int kMessages = 300;
  std::mt19937 lengths(7), order(static_cast<unsigned>(rank));
  std::vector<std::shared_ptr<ProcessPending>> pending;
  std::vector<at::Tensor> received;
  for (int number = 0; number < kMessages; ++number) {
    const std::int64_t longest = number % 10 == 0 ? 300'000 : 20'000;
    const std::int64_t num_bytes = static_cast<std::int64_t>(lengths()) % longest;
    pending.push_back(pair.post(rank, Direction::kSend, filled(num_bytes, number + rank), number % 3));
    received.push_back(at::zeros({num_bytes}, at::kByte));
    pending.push_back(pair.post(rank, Direction::kRecv, received.back(), number % 3));
  }
  std::shuffle(pending.begin(), pending.end(), order);
  for (const auto& one : pending) pair.lane(rank).wait(*one);
  int num_wrong = 0;
  for (int number = 0; number < kMessages; ++number) {
    const at::Tensor& got = received[static_cast<std::size_t>(number)];
    num_wrong += got.equal(filled(got.numel(), number + 1 - rank)) ? 0 : 1;
  }
  return num_wrong;
}

TEST_CASE("shared memory: every length both ways, copied by the receiver or sent in pieces") {
  for (const bool readable : {true, false}) {
    for (const bool spins : {true, false}) {
      CAPTURE(readable);
      CAPTURE(spins);
      Pair pair(readable, spins);
      int wrong_on_1 = -1;
      std::thread rank_1([&] { wrong_on_1 = num_wrong_of_many(pair, 1); });
      CHECK(num_wrong_of_many(pair, 0) == 0);
      rank_1.join();
      CHECK(wrong_on_1 == 0);
    }
  }
}

TEST_CASE("shared memory: a rank that waits for something else is attended to") {
  for (const bool readable : {true, false}) {
    CAPTURE(readable);
    Pair pair(readable);
    const at::Tensor got = at::zeros({1'000'000}, at::kByte);
    const auto receive = pair.post(0, Direction::kRecv, got);
    pair.lane(0).attend(true);
    const auto send = pair.post(1, Direction::kSend, filled(1'000'000, 3));
    pair.lane(1).wait(*send);  // rank 0's thread does nothing meanwhile
    pair.lane(0).attend(false);
    pair.lane(0).wait(*receive);
    CHECK(got.equal(filled(1'000'000, 3)));
    pair.lane(0).attend(true);
    pair.lane(0).attend(false);
  }
}

TEST_CASE("shared memory: nothing is written where the two ends do not agree") {
  for (const std::int64_t num_bytes : {16, 100'000}) {
    CAPTURE(num_bytes);
    Pair pair(true);
    const at::Tensor got = at::zeros({num_bytes + 1}, at::kByte);
    const auto receive = pair.post(0, Direction::kRecv, got);
    const auto send = pair.post(1, Direction::kSend, filled(num_bytes, 3));
    CHECK_THROWS_AS(pair.lane(0).wait(*receive), ContractError);
    CHECK(got.eq(0).all().item<bool>());
  }
}

TEST_CASE("shared memory: a payload whose sender is gone is a lost connection") {
  const std::shared_ptr<ShmSegment> segment = ShmSegment::create(2);
  NoGuard guard;
  Neighbours us;
  us.segment = segment;
  us.members = {{0, ::getpid(), true}, {1, ::getpid(), true}};
  const auto sender = lane_over_memory(us, guard, false);
  us.self = 1;
  us.members[0].process = 1 << 30;  // no process has this number
  const auto receiver = lane_over_memory(us, guard, false);
  for (Direction direction : {Direction::kSend, Direction::kRecv}) {
    NearLane& lane = direction == Direction::kSend ? *sender : *receiver;
    const int peer = direction == Direction::kSend ? 1 : 0;
    const auto pending = lane.post(message_to(peer, direction, filled(100'000, 1)));
    if (direction == Direction::kRecv) CHECK_THROWS_AS(lane.wait(*pending), CommError);
  }
}

}  // namespace
}  // namespace lab::comm
