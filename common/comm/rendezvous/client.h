#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "common/comm/rendezvous/socket.h"
#include "common/comm/rendezvous/wire.h"

namespace lab::comm {

/// A rank's side of the rendezvous: one connection to rank 0, kept for as long as the rank may have to connect to
/// others.
class RendezvousClient {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Announces this rank, and returns when every rank has arrived.
  /// Errors    UsageError: ranks were started differently, this rank has already arrived, the port is another job's;
  ///           CommError: rank 0 does not listen, something else does, a rank is late (it is named) or gone
  RendezvousClient(const RendezvousPlace& place, const Arrival& own, Time deadline);

  /// Leaves `items`, one for each of `count` members and all of the same length, under the group's name, and returns
  /// what the members left for this one, in their order. Every member calls it with the same name. Errors: CommError.
  std::string exchange(const std::string& name, int index, int count, std::string items, double timeout_seconds);

  /// Returns at `time`, or throws if rank 0 reports before then that a rank is gone. Errors: CommError.
  void listen_until(Time time);

  /// Tells rank 0 what this rank is doing. Never waits; may be called by another thread than the rest.
  void pulse(const Pulse& pulse);

  /// Asks rank 0 who keeps this rank waiting: see RollCall::late_rank(). Returns within half a second; nothing, if rank 0
  /// is gone. For a rank that waits for something else than the rendezvous; may be called by another thread than the rest.
  std::optional<std::string> late_rank(const Pulse& pulse);

  /// Tells the others, through rank 0, why this rank ends.
  void give_up(const std::string& message);

 private:
  int send(const RendezvousMessage& message, Time deadline);
  bool introduce(const Arrival& own, Time deadline);
  RendezvousMessage receive(Time deadline);
  std::optional<RendezvousMessage> try_to_receive(Time deadline);
  [[noreturn]] void fail_without_rank_0(const std::string& what) const;

  const RendezvousPlace place_;
  const int rank_;
  UniqueFd fd_;
  std::mutex sending_;
  bool half_sent_ = false;  ///< a message, after which no other would be understood
  RendezvousStream in_;
  std::string found_instead_;  ///< what answered instead of rank 0
};

}  // namespace lab::comm
