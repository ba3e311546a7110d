#include "common/comm/watch/wait_graph.h"

#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::comm;

namespace {

// Builds the ranks of a world from the calls they made.
class Ranks {
 public:
  explicit Ranks(std::size_t size) : states(size) {
    for (RankState& state : states) state.activity = RankActivity::kRunning;
  }

  std::size_t post(std::size_t rank, Direction direction, int peer, int tag = 0, const std::string& where = "a.cpp:1",
                   std::uint64_t bytes = 4096, const std::string& contract = "float32 [1024]") {
    RankState& state = states[rank];
    std::uint64_t* posted = nullptr;
    for (ChannelCount& channel : state.channels) {
      if (channel.direction == direction && channel.peer == peer && channel.tag == tag) posted = &channel.posted;
    }
    if (posted == nullptr) posted = &state.channels.emplace_back(ChannelCount{{direction, peer, 0, tag}, 0}).posted;
    state.posted.push_back({direction, peer, 0, tag, (*posted)++, bytes, "send", contract, where});
    return state.posted.size() - 1;
  }

  void wait(std::size_t rank, std::size_t op) {
    states[rank].activity = RankActivity::kWaiting;
    states[rank].waiting_for = op;
  }

  void block(std::size_t rank, Direction direction, int peer, int tag = 0, const std::string& where = "a.cpp:1") {
    wait(rank, post(rank, direction, peer, tag, where));
  }

  std::vector<RankState> states;
};

constexpr auto kSend = Direction::kSend;
constexpr auto kRecv = Direction::kRecv;

}  // namespace

TEST_CASE("two ranks that send to each other first are a deadlock") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1, 0, "a.cpp:41");
  ranks.block(1, kSend, 0, 0, "a.cpp:41");
  const auto diagnosis = diagnose(ranks.states);
  REQUIRE(diagnosis);
  CHECK(diagnosis->exit_code == ExitCode::kDeadlock);
  CHECK(diagnosis->message ==
        "deadlock: rank 0 waits to send 4 KiB to rank 1 (a.cpp:41), rank 1 waits to send 4 KiB to rank 0 (a.cpp:41)");
  CHECK(diagnosis->rank_lines == std::vector<std::string>{"rank 0 waits to send 4 KiB to rank 1 (a.cpp:41)",
                                                          "rank 1 waits to send 4 KiB to rank 0 (a.cpp:41)"});
  CHECK(diagnosis->ranks == std::vector<int>{0, 1});
}

TEST_CASE("a cycle is told from its lowest rank on, also when lower ranks only wait for it") {
  for (int size : {3, 4, 5, 8}) {
    Ranks ranks(static_cast<std::size_t>(size));
    ranks.block(0, kRecv, size - 1);
    for (int rank = 1; rank < size; ++rank)
      ranks.block(static_cast<std::size_t>(rank), kSend, rank + 1 < size ? rank + 1 : 1);
    const auto diagnosis = diagnose(ranks.states);
    REQUIRE(diagnosis);
    CHECK(diagnosis->message.rfind("deadlock: rank 1 waits to send 4 KiB to rank 2", 0) == 0);
    CHECK(diagnosis->ranks.size() == static_cast<std::size_t>(size) - 1);
    CHECK(diagnosis->rank_lines[0] ==
          "rank 0 waits to receive 4 KiB from rank " + std::to_string(size - 1) + " (a.cpp:1)");
  }
}

TEST_CASE("a message that has its counterpart is not an edge") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1);
  ranks.post(1, kRecv, 0);
  ranks.block(1, kSend, 0, 7);
  CHECK_FALSE(diagnose(ranks.states));
}

TEST_CASE("the n-th message needs the n-th counterpart") {
  Ranks ranks(2);
  ranks.post(1, kRecv, 0);
  ranks.post(0, kSend, 1);
  ranks.block(0, kSend, 1);
  ranks.block(1, kSend, 0);
  CHECK(diagnose(ranks.states));
  ranks.post(1, kRecv, 0);
  CHECK_FALSE(diagnose(ranks.states));
}

TEST_CASE("a message of another sub-group is not a counterpart") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1);
  ranks.states[1].channels.push_back({{kRecv, 0, /*group=*/9, 0}, 1});
  ranks.block(1, kSend, 0);
  CHECK(diagnose(ranks.states));
}

TEST_CASE("waiting for a rank that has returned is a deadlock that names it") {
  Ranks ranks(3);
  ranks.block(0, kRecv, 1, 0, "a.cpp:3");
  ranks.block(2, kRecv, 0);
  ranks.states[1].activity = RankActivity::kFinished;
  const auto diagnosis = diagnose(ranks.states);
  REQUIRE(diagnosis);
  CHECK(diagnosis->exit_code == ExitCode::kDeadlock);
  CHECK(diagnosis->message ==
        "deadlock: rank 0 waits to receive 4 KiB from rank 1 (a.cpp:3), but rank 1 has already returned");
  CHECK(diagnosis->rank_lines[1] == "rank 1 has already returned");
  CHECK(diagnosis->ranks == std::vector<int>{0, 1});
}

TEST_CASE("a chain that ends at a rank that may still go on proves nothing") {
  for (RankActivity end :
       {RankActivity::kStarting, RankActivity::kRunning, RankActivity::kCollective, RankActivity::kFailed}) {
    Ranks ranks(3);
    ranks.block(0, kRecv, 1);
    ranks.block(1, kRecv, 2);
    ranks.states[2].activity = end;
    CHECK_FALSE(diagnose(ranks.states));
  }
}

TEST_CASE("absence from a table that overflowed proves nothing") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1);
  ranks.block(1, kSend, 0);
  ranks.states[1].complete = false;
  CHECK_FALSE(diagnose(ranks.states));
  ranks.states[1].channels.push_back({{kRecv, 0, 0, 0}, 0});  // listed with no messages: that is certain
  CHECK(diagnose(ranks.states));
}

TEST_CASE("a tag mismatch is preferred to the deadlock it causes") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1, 3, "a.cpp:10");
  ranks.block(1, kRecv, 0, 4, "b.cpp:12");
  const auto diagnosis = diagnose(ranks.states);
  REQUIRE(diagnosis);
  CHECK(diagnosis->exit_code == ExitCode::kContract);
  CHECK(diagnosis->message ==
        "tag mismatch: rank 0 waits to send 4 KiB to rank 1 with tag 3 (a.cpp:10), "
        "rank 1 waits to receive 4 KiB from rank 0 with tag 4 (b.cpp:12)");
}

TEST_CASE("a receive that was posted and never waited for shows the tag mismatch") {
  Ranks ranks(2);
  ranks.post(1, kRecv, 0, 4, "b.cpp:12");
  SUBCASE("its rank waits for something else") {
    ranks.block(1, kRecv, 0, 9, "b.cpp:13");
  }
  SUBCASE("its rank has returned") {
    ranks.states[1].activity = RankActivity::kFinished;
  }
  ranks.block(0, kSend, 1, 3, "a.cpp:10");
  ranks.states[1].posted.back().contract =
      ranks.states[1].posted.size() == 2 ? "int64 [512]" : ranks.states[1].posted.back().contract;
  const auto diagnosis = diagnose(ranks.states);
  REQUIRE(diagnosis);
  CHECK(diagnosis->exit_code == ExitCode::kContract);
  CHECK(diagnosis->message ==
        "tag mismatch: rank 0 waits to send 4 KiB to rank 1 with tag 3 (a.cpp:10), "
        "rank 1 has posted a receive of 4 KiB from rank 0 with tag 4 (b.cpp:12)");
}

TEST_CASE("messages that differ in more than the tag are not a tag mismatch") {
  Ranks ranks(2);
  ranks.block(0, kSend, 1, 3);
  ranks.wait(1, ranks.post(1, kRecv, 0, 4, "b.cpp:12", 8192, "float32 [2048]"));
  CHECK(diagnose(ranks.states)->exit_code == ExitCode::kDeadlock);
}

TEST_CASE("two outstanding messages with different tags are not a mismatch until one is waited for") {
  Ranks ranks(2);
  ranks.post(0, kSend, 1, 3);
  ranks.post(1, kRecv, 0, 4);
  ranks.wait(0, ranks.post(0, kSend, 1, 5, "a.cpp:1", 8, "int64 [1]"));
  ranks.wait(1, ranks.post(1, kSend, 0, 6, "a.cpp:1", 8, "int64 [1]"));
  CHECK(diagnose(ranks.states)->exit_code == ExitCode::kDeadlock);
}

TEST_CASE("a rank's line tells what it does and what else it has posted") {
  RankState state;
  CHECK(describe_rank(state) == "has not joined yet");
  state.activity = RankActivity::kFailed;
  state.detail = "killed by signal 9 (SIGKILL)";
  CHECK(describe_rank(state) == "failed: killed by signal 9 (SIGKILL)");
  state.activity = RankActivity::kCollective;
  state.detail = "all_reduce";
  CHECK(describe_rank(state) == "is inside all_reduce");
  for (int i = 0; i < 6; ++i) state.posted.push_back({kRecv, i, 0, i, 0, 4, "all_reduce", "float32 [1]", "a.cpp:1"});
  state.activity = RankActivity::kWaiting;
  state.waiting_for = 5;
  state.unlisted = 2;
  CHECK(
      describe_rank(state) ==
      "waits to receive 4 B from rank 5 in all_reduce (a.cpp:1); also posted: recv of 4 B from rank 0, tag 0 in "
      "all_reduce (a.cpp:1), "
      "recv of 4 B from rank 1, tag 1 in all_reduce (a.cpp:1), recv of 4 B from rank 2, tag 2 in all_reduce (a.cpp:1), "
      "recv of 4 B from rank 3, tag 3 in all_reduce (a.cpp:1) and 3 more");
}

TEST_CASE("the late rank is the one at the end of the chain of waits") {
  Ranks ranks(4);
  ranks.block(0, kRecv, 1);
  ranks.block(1, kSend, 2);
  CHECK(find_late_rank(ranks.states, 0) == 2);
  CHECK(find_late_rank(ranks.states, 1) == 2);
  CHECK(find_late_rank(ranks.states, 3) == 3);  // it waits for none
  ranks.states[1].stopped_by = 19;
  CHECK(find_late_rank(ranks.states, 0) == 1);
  ranks.states[1].stopped_by = 0;
  ranks.block(2, kRecv, 0);
  CHECK_FALSE(find_late_rank(ranks.states, 0));  // a cycle
}

TEST_CASE("a rank inside a built-in collective waits for one that is stopped, or is not inside") {
  Ranks ranks(4);
  for (const std::size_t rank : {0, 1, 3}) ranks.states[rank].activity = RankActivity::kCollective;
  CHECK(find_late_rank(ranks.states, 0) == 2);
  ranks.states[3].stopped_by = 19;
  CHECK(find_late_rank(ranks.states, 0) == 3);
}

TEST_CASE("a rank's line tells its task, and the signal that has stopped it") {
  RankState state;
  state.activity = RankActivity::kRunning;
  state.task = "a9.allreduce, AllReduceLarge";
  CHECK(describe_rank(state) == "computes in a9.allreduce, AllReduceLarge");
  state.stopped_by = 19;
  CHECK(describe_rank(state) == "is stopped by SIGSTOP while it computes in a9.allreduce, AllReduceLarge");
}
