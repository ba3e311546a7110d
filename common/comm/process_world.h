#pragma once

#include <memory>
#include <string>

#include "common/comm/collective_backend.h"
#include "common/comm/transport.h"

namespace lab {

/// Where the ranks of a world find each other: at a socket in a folder of their machine, or at an address, where rank 0
/// serves the rendezvous.
struct MeetingPoint {
  /// When not empty: every rank is on this machine, and rank 0 makes this socket; "@name" is one without a file.
  std::string socket_path;
  std::string host;  ///< else: where rank 0 is
  int port = 0;
  std::string token;         ///< the same on every rank of a job; keeps ranks of other jobs out
  bool agent_store = false;  ///< torchrun's agent serves its own store at host and port; no rank may bind it
  int attempt = 0;           ///< torchrun's restarts so far: what an earlier attempt left in the store is not read
};

struct ProcessWorldOptions {
  int rank = 0;
  int size = 1;
  MeetingPoint meeting;
  std::string fingerprint;      ///< see fingerprint.h; must be the same on every rank
  double timeout_seconds = 10;  ///< of the meeting, and of every later wait
  std::string event_file;       ///< the launcher's; empty when there is none
};

/// The world in which a rank is a process: messages over TCP by Gloo, which is met in the gloo_backend files only. A
/// process that was in such a world ends with _exit once it has closed or failed: posted operations cannot be
/// withdrawn.
class ProcessWorld {
 public:
  virtual ~ProcessWorld() = default;
  virtual std::shared_ptr<Transport> transport() = 0;
  virtual std::shared_ptr<CollectiveBackend> collectives() = 0;

  /// Meets the other ranks. Ignores SIGPIPE in this process from then on: a dead peer must not kill the survivors.
  /// Errors    CommError: a rank did not arrive in time or is gone (it says which), rank 0 does not listen at the meeting
  ///           point, or something other than rank 0 does.
  ///           UsageError: ranks were started differently (it says in what), or two with one rank; the port is in use,
  ///           the socket cannot be made, GLOO_SOCKET_IFNAME names no interface, too few file descriptors.
  static std::unique_ptr<ProcessWorld> join(const ProcessWorldOptions& options);
};

}  // namespace lab
