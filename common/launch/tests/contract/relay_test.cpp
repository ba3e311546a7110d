#include <signal.h>
#include <unistd.h>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What only the relay does: it notices that a rank is gone, and it can shake the order of things.
namespace lab::launch {
namespace {

TEST_CASE("relay: when a rank is killed, the others hear of it") {
  const auto outcome = run_ranks(choose_world<Relay>(4), [](Communicator& comm) {
    if (comm.rank() == 2) ::kill(::getpid(), SIGKILL);
    comm.point_to_point().recv(at::zeros({1}), (comm.rank() + 1) % 4);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == 128 + SIGKILL);
  for (const int rank : {0, 1, 3}) {
    CHECK(exit_code_of_rank(outcome, rank) == static_cast<int>(ExitCode::kCommunication));
    CHECK(message_of_rank(outcome, rank) == "rank 2 failed: its process has ended");
  }
}

/// Whether code waits for a send before it changes what it sends.
enum class Patience { kWaits, kChangesAtOnce, kChangesAfterItsReceive };

/// The sum over all ranks, passed around in a ring.
at::Tensor ring_sum(PointToPoint& p2p, Patience patience) {
  const at::Tensor sum = at::full({1000}, p2p.rank()), passed = sum.clone(), received = at::empty_like(sum);
  for (int step = 1; step < p2p.size(); ++step) {
    Request send = p2p.isend(passed, (p2p.rank() + 1) % p2p.size());
    if (patience == Patience::kChangesAtOnce) passed.zero_();
    p2p.recv(received, (p2p.rank() + p2p.size() - 1) % p2p.size());
    if (patience == Patience::kChangesAfterItsReceive) passed.copy_(received);
    send.wait();
    passed.copy_(received);
    sum.add_(received);
  }
  return sum;
}

int num_wrong_shaken_runs(Patience patience) {
  int num_wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    WorldSpec spec = choose_world<Relay>(3);
    spec.careful = false;  // else the change itself is refused
    spec.shake_seed = seed;
    const auto outcome = run_ranks(spec, [&](Communicator& comm) {
      return TensorMap{{"sum", ring_sum(comm.point_to_point(), patience)}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (int rank = 0; rank < 3; ++rank) {
      if (at::equal(tensor_of_rank(outcome, rank, "sum"), at::full({1000}, 3))) continue;
      ++num_wrong;
      break;
    }
  }
  return num_wrong;
}

TEST_CASE("relay: shaken runs are right for right code, and show that a tensor was changed while it was sent") {
  CHECK(num_wrong_shaken_runs(Patience::kWaits) == 0);
  CHECK(num_wrong_shaken_runs(Patience::kChangesAtOnce) == 20);
  CHECK(num_wrong_shaken_runs(Patience::kChangesAfterItsReceive) > 2);
}

}  // namespace
}  // namespace lab::launch
