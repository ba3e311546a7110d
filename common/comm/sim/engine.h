#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/comm/sim/network.h"

namespace lab::comm {

/// The simulated machine: a clock, one host per rank with a network between them, and an actor on each host. The only
/// user of SimGrid in the simulated world. At most one per process.
class SimEngine {
 public:
  SimEngine(const SimNetwork& network, int num_ranks);
  ~SimEngine();
  SimEngine(const SimEngine&) = delete;
  SimEngine& operator=(const SimEngine&) = delete;

  /// Simulated seconds.
  double now() const;

  /// Runs body(rank) as an actor on each host, starting with rank 0, and returns when all have finished. An actor runs
  /// until it blocks or finishes; simulated time does not advance meanwhile.
  void run(const std::function<void(int rank)>& body);

  /// Called by an actor: the others run until it is woken. May return spuriously, so the caller checks its condition in
  /// a loop.
  void block();

  /// Called by an actor: the others run until that much time has passed.
  void sleep(double seconds);

  /// Wakes the rank's actor once all running ones have blocked. No effect if it is not blocked.
  void wake(int rank);

  /// Starts sending a message once all actors have blocked, which is at this same simulated instant; `arrived` is
  /// called on arrival. It may wake ranks and must not block.
  void transfer(int src_rank, int dst_rank, std::uint64_t num_bytes, std::function<void()> arrived);

  /// Calls `ring` at that time, or at once if it has passed; replaces an earlier alarm.
  void set_alarm(double at_seconds, std::function<void()> ring);
  void clear_alarm();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab::comm
