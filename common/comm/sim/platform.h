#pragma once

// In SimGrid 3.32 the second needs the first.
// clang-format off
#include <xbt/base.h>
#include <simgrid/version.h>
// clang-format on

#include <functional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "common/comm/sim/network.h"

// What the versions of SimGrid name differently, and the network.
namespace lab::comm {

inline void on_completion(const std::function<void(const simgrid::s4u::Comm&)>& call) {
#if SIMGRID_VERSION >= 40000
  simgrid::s4u::Comm::on_completion_cb(call);
#else
  simgrid::s4u::Activity::on_completion_cb(
      [call](const simgrid::s4u::Activity& activity) { call(static_cast<const simgrid::s4u::Comm&>(activity)); });
#endif
}

inline simgrid::s4u::ActorPtr add_actor(const std::string& name, simgrid::s4u::Host* host,
                                        const std::function<void()>& body) {
#if SIMGRID_VERSION >= 40100
  return host->add_actor(name, body);
#elif SIMGRID_VERSION >= 40000
  return simgrid::s4u::Engine::get_instance()->add_actor(name, host, body);
#else
  return simgrid::s4u::Actor::create(name, host, body);
#endif
}

#if SIMGRID_VERSION >= 40000
constexpr const char* kPrecision = "precision/timing";
#else
constexpr const char* kPrecision = "surf/precision";
#endif

/// Creates the network as the engine's platform, with at least num_ranks hosts; returns the ranks' hosts, by rank.
/// Neighbouring ranks are neighbours in the network.
std::vector<simgrid::s4u::Host*> make_platform(simgrid::s4u::Engine& engine, const SimNetwork& network, int num_ranks);

}  // namespace lab::comm
