#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "common/comm/sim_network.h"

namespace lab {

/// Makes the network as the root of the engine's platform, with at least num_ranks hosts; returns those of the ranks,
/// by rank. Neighbouring ranks are neighbours in the network.
std::vector<simgrid::s4u::Host*> make_platform(const SimNetwork& network, int num_ranks);

}  // namespace lab
