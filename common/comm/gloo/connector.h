#pragma once

#include <gloo/rendezvous/context.h>

#include <memory>
#include <optional>
#include <string>

#include "common/comm/process_world.h"
#include "common/comm/rendezvous/wire.h"

// Internal to comm/gloo.
namespace lab::comm {

/// Connects ranks: the rendezvous where they exchange addresses, and the network device that these belong to.
class Connector {
 public:
  /// Opens the rendezvous and waits until every rank has arrived. Errors: see ProcessWorld::join.
  static std::unique_ptr<Connector> open(const ProcessWorldOptions& options);
  virtual ~Connector() = default;

  /// A full mesh of connections among `size` ranks of which this one is `rank`. Every member calls it with the same
  /// name. Errors: CommError: a rank is gone or cannot be reached in time.
  virtual std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int rank, int size) = 0;

  /// Tells rank 0 what this rank is doing, and asks it who is late: see RendezvousClient. For any thread.
  virtual void pulse(const Pulse& pulse) = 0;
  virtual std::optional<std::string> late_rank(const Pulse& pulse) = 0;

  /// Called when a connection is lost before the world is made: finds out whose fault it was, and throws.
  [[noreturn]] virtual void connection_lost() = 0;
};

}  // namespace lab::comm
