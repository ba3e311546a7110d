#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/comm/rendezvous/wire.h"

namespace lab::comm {

/// What every rank last said it was doing, and when: rank 0 keeps it where no launcher watches all ranks.
class RollCall {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `process`: "process 4711 on node3".
  void arrived(int rank, const std::string& process, Time now);
  void note_pulse(int rank, const Pulse& pulse, Time now);

  /// Who keeps rank `first` waiting: ranks that have been silent for a second, else the end of the chain of waits.
  /// "; not heard from for 4.9 s: rank 2 (process 4711 on node2); it is stopped, or cut off from rank 0" or
  /// "; late: rank 2 computes". Empty if that is `first` itself, or the chain is a cycle.
  std::string late_rank(int first, Time now) const;

 private:
  struct Rank {
    std::string process;
    Time heard_at;
    Pulse pulse;
  };

  std::map<int, Rank> ranks_;
};

/// The rendezvous itself, without sockets: who has arrived, who waits for whom, and what each connection is told.
/// Connections are numbers; rank 0's server moves the bytes.
///
/// Every rank arrives once. When all have, their fingerprints are compared and all receive kEveryone. Then groups of
/// ranks exchange addresses. The first failure (a rank that differs, is late, gives up, or whose connection ends) is
/// reported to every rank at once, and to those that arrive later. Strangers are rejected and change nothing. From then
/// on ranks say what they are doing, and ask who is late.
class Rendezvous {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Reply {
    int connection;
    RendezvousMessage message;
  };

  Rendezvous(int size, std::string token) : size_(size), token_(std::move(token)) {}

  /// Errors: WireError: the peer is not a rank of this suite or breaks the protocol; the connection must be closed.
  std::vector<Reply> receive(int connection, const RendezvousMessage& message, Time now);

  /// The connection has ended.
  std::vector<Reply> closed(int connection);

  /// Fails the rendezvous when a rank's patience has run out.
  std::vector<Reply> expire(Time now);
  std::optional<Time> next_deadline() const;

  /// Ends the rendezvous for all.
  std::vector<Reply> fail(const Refusal& refusal);

  bool has_arrived(int connection) const { return ranks_.count(connection) != 0; }
  bool complete() const { return complete_; }
  /// Failed because ranks were started differently, and not every one of them has been told yet.
  bool has_more_to_tell() const;

 private:
  struct Wait {
    Time deadline;
    double timeout_seconds;
    std::optional<Exchange> exchange;  ///< empty: waits for the others to arrive
  };

  std::vector<Reply> arrive(int connection, const Arrival& arrival, Time now);
  std::vector<Reply> exchange(int connection, const Exchange& exchange, Time now);
  std::vector<Reply> all_arrived(Time now);
  std::string describe_absent(const Wait& wait) const;

  const int size_;
  const std::string token_;
  bool complete_ = false;
  std::optional<Refusal> failure_;
  std::map<int, int> ranks_;              ///< by connection
  std::map<int, std::string> processes_;  ///< by rank, of those that have arrived
  std::map<int, std::string> fingerprints_;
  std::map<int, Wait> waits_;  ///< by connection
  RollCall roll_call_;
  std::set<int> known_ranks_;  ///< those that connected, as rank 0 counts them
};

}  // namespace lab::comm
