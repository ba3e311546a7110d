#pragma once

#include <chrono>
#include <map>
#include <string>

#include "common/comm/rendezvous/wire.h"

namespace lab::comm {

/// What every rank last said it was doing, and when: rank 0 keeps it where no launcher watches all ranks.
class RollCall {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `process`: "process 4711 on node3".
  void arrived(int rank, const std::string& process, Time now);
  void heard(int rank, const Pulse& pulse, Time now);

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

}  // namespace lab::comm
