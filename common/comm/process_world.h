#pragma once

#include <memory>
#include <string>

#include "common/base/stack/student_place.h"
#include "common/comm/messages/collective_backend.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// Where the ranks of a world rendezvous: at a Unix socket on their machine, or at an address, where rank 0 serves the
/// rendezvous.
struct RendezvousPoint {
  /// If not empty: every rank is on this machine, and rank 0 creates this socket; "@name" is one without a file.
  std::string socket_path;
  std::string host;  ///< otherwise: where rank 0 is
  int port = 0;
  std::string token;         ///< the same on every rank of a job; keeps ranks of other jobs out
  bool agent_store = false;  ///< torchrun's agent serves its own store at host and port; no rank may bind it
  int attempt = 0;           ///< torchrun's restarts so far; entries left in the store by earlier attempts are ignored
};

/// How bytes travel between two processes: over Gloo's connections, through memory that the ranks of one host share, or
/// through that inside a host and over Gloo between hosts.
enum class TransportKind { kGloo, kShm, kAuto };
/// "gloo", "shm", "auto".
TransportKind transport_named(const std::string& name);

struct ProcessWorldOptions {
  int rank = 0;
  int size = 1;
  RendezvousPoint rendezvous;
  std::string fingerprint;      ///< see fingerprint.h; must be the same on every rank
  double timeout_seconds = 10;  ///< of the rendezvous, and of every later wait
  std::string event_file;       ///< the launcher's; empty when there is none
  TransportKind transport = TransportKind::kGloo;
  std::string host;      ///< ranks with the same one share memory; empty: see this_host()
  int usable_cores = 1;  ///< by all ranks of this host
};

/// The world in which a rank is a process. Whatever the transport, Gloo's connections tell which rank is gone. A process
/// in such a world must end with _exit once it has closed or failed: posted operations cannot be withdrawn.
class ProcessWorld {
 public:
  virtual ~ProcessWorld() = default;
  /// In the launcher's event file; null: there is none.
  virtual StudentPlace* student_place() = 0;
  virtual std::shared_ptr<Transport> transport() = 0;
  virtual std::shared_ptr<CollectiveBackend> collectives() = 0;

  /// Rendezvous with the other ranks. Ignores SIGPIPE in this process from then on: a dead peer must not kill
  /// survivors.
  /// Errors    CommError: a rank did not arrive in time or is gone (it says which), rank 0 does not listen at the
  ///           rendezvous point, or something else does.
  ///           UsageError: ranks were started differently (it says how), or two have the same rank; the port is in use,
  ///           the socket cannot be created, GLOO_SOCKET_IFNAME is not an interface, too few file descriptors;
  ///           kShm, and not all ranks share memory.
  static std::unique_ptr<ProcessWorld> join(const ProcessWorldOptions& options);
};

}  // namespace lab::comm
