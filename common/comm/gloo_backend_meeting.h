#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>

#include <memory>
#include <string>

#include "common/comm/process_world.h"

// How the ranks find each other. Internal to the gloo_backend files.
namespace lab {

/// The place where ranks leave their addresses: c10d's file or TCP store, and the network device that they go with.
class Meeting {
 public:
  /// Opens the store and waits until every rank has come. Errors: see ProcessWorld::join.
  static std::unique_ptr<Meeting> hold(const ProcessWorldOptions& options);
  virtual ~Meeting() = default;

  /// A full mesh of connections among `size` ranks of which this one is `rank`. Every member calls it with the same
  /// name.
  virtual std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int rank, int size) = 0;
};

}  // namespace lab
