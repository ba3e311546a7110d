#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "common/comm/rendezvous/socket.h"

namespace lab::comm {

/// Serves a world's rendezvous (rendezvous.h) from rank 0, on its own thread, for as long as this object lives. Never
/// blocks on a connection: idle, half-open and garbage connections are dropped and do not disturb the rendezvous. A
/// Unix socket is unlinked once all have arrived.
class RendezvousServer {
 public:
  /// `token`: only connections that know it are let in.
  /// Errors    those of listen_at()
  RendezvousServer(RendezvousPlace place, int size, const std::string& token,
                   std::chrono::steady_clock::time_point deadline);
  /// Ranks that were started differently and arrive late are still told, for a second at most.
  ~RendezvousServer();
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

  /// With the port that was chosen.
  const RendezvousPlace& place() const { return place_; }

 private:
  class Loop;

  RendezvousPlace place_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace lab::comm
