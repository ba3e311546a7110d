#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/comm/sim/network.h"

namespace lab {

/// The simulated machine: a clock, one host per rank with a network between them, and an actor on each host. All of
/// SimGrid that the simulated world uses stands behind it. At most one per process.
class SimEngine {
 public:
  SimEngine(const SimNetwork& network, int num_ranks);
  ~SimEngine();
  SimEngine(const SimEngine&) = delete;
  SimEngine& operator=(const SimEngine&) = delete;

  /// Simulated seconds.
  double now() const;

  /// Runs body(rank) as an actor on each host, starting with rank 0, and returns when all have ended. An actor runs
  /// until it blocks or ends; time stands still meanwhile.
  void run(const std::function<void(int rank)>& body);

  /// Called by an actor: the others run until somebody wakes it. May return for no reason, so the caller looks at what
  /// it waits for, in a loop.
  void block();

  /// Called by an actor: the others run until so much time has passed.
  void sleep(double seconds);

  /// Wakes the rank's actor once all that run have blocked. Nothing happens to one that is not blocked.
  void wake(int rank);

  /// Puts a message on its way once all actors have blocked, which is at this same simulated instant; `arrived` is
  /// called when it is there. It may wake ranks and must not block.
  void transfer(int src_rank, int dst_rank, std::uint64_t num_bytes, std::function<void()> arrived);

  /// Calls `ring` at that time, or at once if it has passed; takes the place of an alarm set before.
  void set_alarm(double at_seconds, std::function<void()> ring);
  void clear_alarm();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
