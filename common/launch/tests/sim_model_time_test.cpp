#include <cmath>

#include "common/launch/tests/sim_timing.h"
#include "common/testing/test.h"

// Model time against the simulated star: without overhead, and where no two messages share a link, they are the same.
namespace lab::launch {
namespace {

constexpr double kSecondsPerFlop = 100e-12;

/// The same work on both clocks.
void work_on_both(Communicator& comm, std::int64_t flops) {
  at::ones({flops}).add_(1);
  get_endpoint(comm).transport().pass_time(static_cast<double>(flops) * kSecondsPerFlop);
}

/// A rank that works longer the higher its number is, and unequally in each step.
std::int64_t uneven_flops(int rank, int step) {
  return 50'000 + 10'000 * ((7 * rank + 5 * step) % 11);
}

/// Runs the program on a star with the network of the model and on ranks without overhead.
void check_simulated_equals_model(int num_ranks, const std::function<void(Communicator&)>& program) {
  CAPTURE(num_ranks);
  WorldSpec spec = choose_world<Sim>(num_ranks, 1e6);
  spec.network = {"star", 20e-6, 2e9};
  spec.model_rates.overhead_ps = 0;
  const auto outcome = run_ranks(spec, [&](Communicator& comm) {
    program(comm);
    return TensorMap{{"seconds", at::full({1}, now(comm), at::kDouble)}};
  });
  for (int rank = 0; rank < num_ranks; ++rank) {
    CAPTURE(rank);
    const double simulated = seconds_of_rank(outcome, rank);
    const ModelTime& model = outcome.ranks[static_cast<std::size_t>(rank)].report.model_time_ps;
    CHECK(model.overhead == 0);
    CHECK(simulated > 20e-6);
    CHECK(std::abs(simulated - static_cast<double>(model.total) * 1e-12) <= 1e-4 * simulated);
  }
}

void exchange(PointToPoint& p2p, int dst, int src, std::int64_t num_bytes) {
  Request received = p2p.irecv(bytes_on_meta(num_bytes), src);
  p2p.send(bytes_on_meta(num_bytes), dst);
  received.wait();
}

TEST_CASE("sim: model time of a ring is the simulated time") {
  for (const int size : {2, 3, 8}) {
    check_simulated_equals_model(size, [](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      const int rank = p2p.rank(), num_ranks = p2p.size();
      for (int step = 1; step < num_ranks; ++step) {
        exchange(p2p, (rank + 1) % num_ranks, (rank + num_ranks - 1) % num_ranks, 100'000);
        work_on_both(comm, uneven_flops(rank, step));
      }
    });
  }
}

TEST_CASE("sim: model time of a pairwise exchange is the simulated time") {
  check_simulated_equals_model(8, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    work_on_both(comm, 50'000);
    for (int distance = 1; distance < 8; ++distance)
      exchange(p2p, (p2p.rank() + distance) % 8, (p2p.rank() + 8 - distance) % 8, 40'000 * distance);
  });
}

TEST_CASE("sim: model time of recursive doubling is the simulated time") {
  check_simulated_equals_model(8, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    for (int distance = 1; distance < 8; distance *= 2) {
      exchange(p2p, p2p.rank() ^ distance, p2p.rank() ^ distance, 30'000 * distance);
      work_on_both(comm, uneven_flops(p2p.rank(), distance));
    }
  });
}

TEST_CASE("sim: model time of a chain that overlaps messages with work is the simulated time") {
  check_simulated_equals_model(5, [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const int rank = p2p.rank();
    for (int turn = 0; turn < 6; ++turn) {
      const auto overlapped = [&](const std::function<Request()>& post) {
        Request request = post();
        work_on_both(comm, uneven_flops(rank, turn));
        request.wait();
      };
      if (rank > 0) overlapped([&] { return p2p.irecv(bytes_on_meta(60'000), rank - 1); });
      if (rank < 4) overlapped([&] { return p2p.isend(bytes_on_meta(60'000), rank + 1); });
    }
  });
}

}  // namespace
}  // namespace lab::launch
