#pragma once

#include <memory>
#include <string>

#include "common/comm/collective_backend.h"
#include "common/comm/transport.h"

namespace lab {

/// Where the ranks of a world find each other: a file that all can open, or a TCP store that rank 0 serves.
struct MeetingPoint {
  std::string store_file;  ///< when not empty: a file on a file system that all ranks share
  std::string host;        ///< else: where the store listens
  int port = 0;
  bool already_served = false;  ///< a launcher's agent listens there; no rank may bind it
  bool one_machine = true;      ///< every rank is on this machine: the loopback interface serves
};

struct ProcessWorldOptions {
  int rank = 0;
  int size = 1;
  MeetingPoint meeting;
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
  /// Errors    CommError: a rank did not arrive in time (it says which), nobody listens at the meeting point.
  ///           UsageError: the port is in use, the store file cannot be opened, GLOO_SOCKET_IFNAME names no interface.
  static std::unique_ptr<ProcessWorld> join(const ProcessWorldOptions& options);
};

}  // namespace lab
