#include "common/comm/sim_backend_platform.h"

#include <fmt/format.h>

#include <algorithm>

// SimGrid 4 replaces the functions that make zones: they are called in this file only.
namespace lab {
namespace {

namespace sg = simgrid::s4u;

constexpr double kFlops = 1e9;  // a host's speed says nothing: ranks compute in no simulated time

std::vector<sg::Host*> make_star(const SimNetwork& network, int num_ranks) {
  sg::NetZone* zone = sg::create_star_zone("star");
  std::vector<sg::Host*> hosts;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto link = [&](const char* name) {
      return zone->create_link(fmt::format("{}{}", name, rank), network.bytes_per_second)
          ->set_latency(network.latency_seconds / 2)
          ->seal();
    };
    sg::Host* host = zone->create_host(fmt::format("host{}", rank), kFlops)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg::LinkInRoute(link("up"))}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(link("down"))}, false);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// Fills the leaves of the zones that SimGrid itself lays out.
sg::ClusterCallbacks collect_hosts(std::vector<sg::Host*>& hosts) {
  return sg::ClusterCallbacks([&hosts](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    sg::Host* host = zone->create_host(fmt::format("host{}", id), kFlops)->seal();
    hosts.push_back(host);
    return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(host->get_netpoint(),
                                                                                               nullptr);
  });
}

unsigned int ceil_div(unsigned int whole, unsigned int part) {
  return (whole + part - 1) / part;
}

/// Full bisection: each switch has as many links up as down. Two levels of 16 hold 256 hosts, three 4,096.
sg::FatTreeParams fat_tree_for(unsigned int num_ranks) {
  constexpr unsigned int kPorts = 16;
  if (num_ranks <= kPorts) return {1, {std::max(num_ranks, 2U)}, {1}, {1}};
  if (num_ranks <= kPorts * kPorts) {
    return {2, {kPorts, ceil_div(num_ranks, kPorts)}, {1, kPorts}, {1, 1}};
  }
  return {3, {kPorts, kPorts, ceil_div(num_ranks, kPorts * kPorts)}, {1, kPorts, kPorts}, {1, 1, 1}};
}

/// The smallest near-cube that holds the ranks: no two sides differ by more than 1.
std::vector<unsigned long> torus_for(unsigned long num_ranks) {
  std::vector<unsigned long> sides = {2, 2, 2};  // with a side of 1, SimGrid would give two links one name
  while (sides[0] * sides[1] * sides[2] < num_ranks) ++*std::min_element(sides.begin(), sides.end());
  return sides;
}

/// Groups of 2 chassis of as many routers as it takes, with 8 hosts each. Links are bundled as in Cray's Cascade: 1
/// between the routers of a chassis, 3 between the chassis of a group; 8 between two groups. SimGrid hangs the bundles
/// to other groups on the routers of a group's first chassis, one on each, so there are as many groups as such routers.
sg::DragonflyParams dragonfly_for(unsigned int num_ranks) {
  constexpr unsigned int kChassis = 2, kHosts = 8;
  unsigned int routers = 2;
  while (routers * kChassis * routers * kHosts < num_ranks) ++routers;
  return {{routers, 8}, {kChassis, 3}, {routers, 1}, kHosts};
}

}  // namespace

std::vector<sg::Host*> make_platform(const SimNetwork& network, int num_ranks) {
  if (network.platform == "star") return make_star(network, num_ranks);
  constexpr auto kFullDuplex = sg::Link::SharingPolicy::SPLITDUPLEX;
  const double bandwidth = network.bytes_per_second, latency = network.latency_seconds;
  const auto size = static_cast<unsigned int>(num_ranks);
  std::vector<sg::Host*> hosts;
  const sg::ClusterCallbacks leaves = collect_hosts(hosts);
  sg::NetZone* zone = nullptr;
  if (network.platform == "fat-tree") {
    zone = sg::create_fatTree_zone("fat-tree", nullptr, fat_tree_for(size), leaves, bandwidth, latency, kFullDuplex);
  } else if (network.platform == "torus") {
    zone = sg::create_torus_zone("torus", nullptr, torus_for(size), leaves, bandwidth, latency, kFullDuplex);
  } else {
    zone =
        sg::create_dragonfly_zone("dragonfly", nullptr, dragonfly_for(size), leaves, bandwidth, latency, kFullDuplex);
  }
  zone->seal();
  hosts.resize(static_cast<std::size_t>(num_ranks));
  return hosts;
}

}  // namespace lab
