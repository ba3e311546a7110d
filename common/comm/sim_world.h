#pragma once

#include <functional>
#include <memory>

#include "common/comm/sim/network.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// The world in which a rank is an actor of a simulated machine: ranks are threads that take turns, computing takes no
/// time, and messages take as long as the network model says. `Transport::now()` and the time-out are simulated
/// seconds, so a run gives the same times on every machine and in every run.
///
/// Call      one per process: SimGrid's engine cannot be created twice. run_ranks() forks a process for each world.
class SimWorld {
 public:
  /// False in a build without SimGrid.
  static bool available();

  /// Errors    UsageError: check_network() rejects the network; this build has no SimGrid
  SimWorld(const SimNetwork& network, int num_ranks, double timeout_seconds);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  /// The end that belongs to `rank`, for use inside run(). The world must outlive it.
  std::shared_ptr<Transport> transport(int rank);

  /// Runs body on every rank and returns when all have finished. body must not throw.
  void run(const std::function<void(int rank)>& body);

  class Hub;

 private:
  std::unique_ptr<Hub> hub_;
};

}  // namespace lab::comm
