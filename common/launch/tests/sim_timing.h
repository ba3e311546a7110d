#pragma once

#include <cmath>
#include <functional>

#include "common/comm/messages/get_endpoint.h"
#include "common/testing/worlds.h"

// Timing helpers for tests of the simulated world: messages without memory, and each rank's clock.
namespace lab::launch {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kManyRanks = 32;  // each is a thread in this build
#else
constexpr int kManyRanks = 1024;
#endif

constexpr double kAlpha = 10e-6, kBeta = 1 / 1.25e9;  ///< of the default network

inline at::Tensor bytes_on_meta(std::int64_t num_bytes) {
  return at::empty({num_bytes}, at::TensorOptions().dtype(at::kByte).device(at::kMeta));
}

inline double now(Communicator& comm) {
  return get_endpoint(comm).transport().now();
}

/// How many simulated seconds the body takes on each rank.
inline WorldOutcome timed(int num_ranks, const std::function<void(PointToPoint&)>& body,
                          const comm::SimNetwork& network = {}) {
  WorldSpec spec = choose_world<Sim>(num_ranks, 1e6);
  spec.network = network;
  return run_ranks(spec, [&](Communicator& comm) {
    body(comm.point_to_point());
    return TensorMap{{"seconds", at::full({1}, now(comm), at::kDouble)}};
  });
}

inline double seconds_of_rank(const WorldOutcome& outcome, int rank) {
  REQUIRE_FALSE(outcome.failure);
  return tensor_of_rank(outcome, rank, "seconds").item<double>();
}

inline bool is_exactly(double actual, double expected) {
  return std::abs(actual - expected) <= 1e-9 * expected;
}

}  // namespace lab::launch
