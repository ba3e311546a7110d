#pragma once

#include <chrono>
#include <string>

#include "common/comm/process_world.h"
#include "common/comm/rendezvous/socket.h"

// torchrun's agent serves a c10d store at MASTER_PORT, and no rank may bind that port. It is only used to tell the
// ranks where rank 0's own rendezvous is. Internal to comm/gloo.
namespace lab::comm {

/// How to find rank 0 and be admitted.
struct RendezvousTicket {
  RendezvousPlace place;
  std::string token;
};

/// Newer LibTorch talks to the store through libuv by default, which packaged builds lack. For c10d::TCPStoreOptions.
template <typename Options>
auto without_libuv(Options& options, int) -> decltype(options.useLibUV, void()) {
  options.useLibUV = false;
}
template <typename Options>
void without_libuv(Options&, long) {}

/// Publishes rank 0's ticket. c10d's calls cannot be interrupted: at the deadline they are left behind on their thread.
/// Errors    CommError: the store is not there, or does not answer in time
void leave_ticket(const RendezvousPoint& store, const RendezvousTicket& ticket,
                  std::chrono::steady_clock::time_point deadline);

/// Waits for rank 0's ticket. Errors: those of leave_ticket(), and CommError if rank 0 left none in time.
RendezvousTicket await_ticket(const RendezvousPoint& store, std::chrono::steady_clock::time_point deadline);

}  // namespace lab::comm
