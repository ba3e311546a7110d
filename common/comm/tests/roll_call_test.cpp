
#include "common/comm/rendezvous/rendezvous.h"
#include "common/comm/tests/rendezvous_ranks.h"
#include "common/testing/plain_test.h"

using namespace lab::comm;
using namespace lab::comm::rendezvous_ranks;
using std::chrono::milliseconds;

namespace {

const RollCall::Time kStart{};

RollCall make_roll_call(int size) {
  RollCall roll_call;
  for (int rank = 0; rank < size; ++rank)
    roll_call.arrived(rank, fmt::format("process {} on node{}", 100 + rank, rank), kStart);
  return roll_call;
}

}  // namespace

TEST_CASE("the late rank is the end of the chain of waits") {
  RollCall ranks = make_roll_call(4);
  ranks.note_pulse(0, {1, "waits for 1"}, kStart);
  ranks.note_pulse(1, {3, "waits for 3"}, kStart);
  ranks.note_pulse(2, {2, "computes"}, kStart);
  ranks.note_pulse(3, {3, "computes in a4.row_parallel"}, kStart);
  for (const int first : {0, 1}) CHECK(ranks.late_rank(first, kStart) == "; late: rank 3 computes in a4.row_parallel");
  CHECK(ranks.late_rank(2, kStart) == "");
  CHECK(ranks.late_rank(3, kStart) == "");
  ranks.note_pulse(3, {0, "waits for 0"}, kStart);
  for (int first = 0; first < 4; ++first) CHECK(ranks.late_rank(first, kStart) == "");  // a cycle, or not waiting
}

TEST_CASE("ranks that have been silent for a second are named first, wherever they are in the chain") {
  RollCall ranks = make_roll_call(4);
  const RollCall::Time later = kStart + milliseconds(4900);
  ranks.note_pulse(0, {1, "waits for 1"}, later);
  ranks.note_pulse(1, {1, "is inside all_reduce"}, later);
  ranks.note_pulse(2, {2, "is inside all_reduce"}, later - milliseconds(999));
  CHECK(ranks.late_rank(0, later) ==
        "; not heard from for 4.9 s: rank 3 (process 103 on node3); it is stopped, or cut off from rank 0");
  CHECK(
      ranks.late_rank(0, later + milliseconds(10)) ==
      "; not heard from for 4.9 s: rank 2 (process 102 on node2), rank 3 (process 103 on node3); they are stopped, or "
      "cut off from rank 0");
}

TEST_CASE("rank 0 answers who is late, for as long as it is there") {
  auto server = std::make_unique<RendezvousServer>(loopback(), 3, "token", deadline_in());
  std::vector<std::unique_ptr<RendezvousClient>> clients(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      clients[static_cast<std::size_t>(rank)] =
          std::make_unique<RendezvousClient>(server->place(), find_rank(rank, 3), deadline_in());
    });
  }
  for (std::thread& thread : threads) thread.join();
  clients[2]->pulse({2, "computes"});
  // It reads a rank's messages in their order, but not those of different ranks.
  std::optional<std::string> late;
  for (const auto end = deadline_in(); late != "; late: rank 2 computes" && Clock::now() < end;)
    late = clients[1]->late_rank({2, "waits to receive 4 B from rank 2"});
  CHECK(late == "; late: rank 2 computes");
  CHECK(clients[2]->late_rank({2, "computes"}) == "");
  server.reset();
  CHECK(!clients[1]->late_rank({2, "waits to receive 4 B from rank 2"}));
  CHECK_NOTHROW(clients[1]->pulse({2, "waits to receive 4 B from rank 2"}));
}

TEST_CASE("a pulse before all have arrived, and one that waits for a rank that is not there, are garbage") {
  Rendezvous rendezvous(2, "token");
  const auto now = Clock::now();
  rendezvous.receive(7, to_message(find_rank(0, 2)), now);
  const RendezvousMessage pulse = to_message(RendezvousKind::kPulse, Pulse{0, "computes"});
  CHECK_THROWS_AS(rendezvous.receive(7, pulse, now), WireError);
  rendezvous.receive(8, to_message(find_rank(1, 2)), now);
  CHECK(rendezvous.receive(7, pulse, now).empty());
  CHECK_THROWS_AS(rendezvous.receive(7, to_message(RendezvousKind::kWhoIsLate, Pulse{2, "waits"}), now), WireError);
  CHECK_THROWS_AS(rendezvous.receive(7, {RendezvousKind::kPulse, "x"}, now), WireError);
}
