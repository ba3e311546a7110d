#include "common/comm/sim/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace lab::comm {
namespace {

namespace sg = simgrid::s4u;

constexpr double kFlops = 1e9;  // irrelevant: computing takes no simulated time
constexpr auto kFullDuplex = sg::Link::SharingPolicy::SPLITDUPLEX;

/// By level of switches: links down from one, links up from one, and how many of these in parallel.
struct FatTree {
  std::vector<unsigned int> down, up, count;
};

/// Number of groups, chassis of each and routers of each, with the links between them; hosts of each router.
struct Dragonfly {
  std::pair<unsigned int, unsigned int> groups, chassis, routers;
  unsigned int hosts;
};

/// Creates the host of a leaf of a zone that SimGrid lays out.
using NewHost = std::function<sg::Host*(sg::NetZone* zone, const std::vector<unsigned long>& place, unsigned long id)>;

std::string find_middle(const std::string& zone) {
  return zone + "_middle";
}

#if SIMGRID_VERSION >= 40000

sg::NetZone* add_star(sg::Engine& engine) {
  return engine.get_netzone_root()->add_netzone_star("star");
}

/// A star inside the star, whose middle is linked to the middle of the whole.
sg::NetZone* add_inner_star(sg::NetZone* zone, const std::string& name) {
  sg::NetZone* inner = zone->add_netzone_star(name);
  inner->set_gateway(inner->add_router(find_middle(name)));
  return inner;
}

/// Null: from or to any other zone.
void add_zone_route(sg::NetZone* zone, const sg::NetZone* from, const sg::NetZone* to, const sg::Link* link) {
  zone->add_route(from, to, {sg::LinkInRoute(link)}, false);
}

sg::Host* add_host(sg::NetZone* zone, const std::string& name) {
  return zone->add_host(name, kFlops)->seal();
}

sg::Link* add_link(sg::NetZone* zone, const std::string& name, double bandwidth, double latency) {
  return zone->add_link(name, bandwidth)->set_latency(latency)->seal();
}

/// Null: from or to any other host.
void add_route(sg::NetZone* zone, const sg::Host* from, const sg::Host* to, const sg::Link* link) {
  zone->add_route(from, to, {sg::LinkInRoute(link)}, false);
}

sg::NetZone* add_fat_tree(sg::Engine& engine, const FatTree& tree, const SimNetwork& network, const NewHost& host) {
  return engine.get_netzone_root()
      ->add_netzone_fatTree("fat-tree", static_cast<unsigned int>(tree.down.size()), tree.down, tree.up, tree.count,
                            network.bytes_per_second, network.latency_seconds, kFullDuplex)
      ->set_host_cb(host);
}

sg::NetZone* add_torus(sg::Engine& engine, const std::vector<unsigned long>& sides, const SimNetwork& network,
                       const NewHost& host) {
  return engine.get_netzone_root()
      ->add_netzone_torus("torus", sides, network.bytes_per_second, network.latency_seconds, kFullDuplex)
      ->set_host_cb(host);
}

sg::NetZone* add_dragonfly(sg::Engine& engine, const Dragonfly& size, const SimNetwork& network, const NewHost& host) {
  return engine.get_netzone_root()
      ->add_netzone_dragonfly("dragonfly", size.groups, size.chassis, size.routers, size.hosts,
                              network.bytes_per_second, network.latency_seconds, kFullDuplex)
      ->set_host_cb(host);
}

#else

sg::NetZone* add_star(sg::Engine&) {
  return sg::create_star_zone("star");
}

/// A star inside the star, whose middle is linked to the middle of the whole.
sg::NetZone* add_inner_star(sg::NetZone* zone, const std::string& name) {
  sg::NetZone* inner = sg::create_star_zone(name)->set_parent(zone);
  inner->create_router(find_middle(name));
  return inner;
}

/// Null: from or to any other zone.
void add_zone_route(sg::NetZone* zone, sg::NetZone* from, sg::NetZone* to, const sg::Link* link) {
  const auto point = [](sg::NetZone* end) { return end == nullptr ? nullptr : end->get_netpoint(); };
  const auto middle = [](sg::NetZone* end) {
    return end == nullptr ? nullptr
                          : sg::Engine::get_instance()->netpoint_by_name_or_null(find_middle(end->get_name()));
  };
  zone->add_route(point(from), point(to), middle(from), middle(to), {sg::LinkInRoute(link)}, false);
}

sg::Host* add_host(sg::NetZone* zone, const std::string& name) {
  return zone->create_host(name, kFlops)->seal();
}

sg::Link* add_link(sg::NetZone* zone, const std::string& name, double bandwidth, double latency) {
  return zone->create_link(name, bandwidth)->set_latency(latency)->seal();
}

/// Null: from or to any other host.
void add_route(sg::NetZone* zone, const sg::Host* from, const sg::Host* to, const sg::Link* link) {
  const auto point = [](const sg::Host* host) { return host == nullptr ? nullptr : host->get_netpoint(); };
  zone->add_route(point(from), point(to), nullptr, nullptr, {sg::LinkInRoute(link)}, false);
}

sg::ClusterCallbacks leaves(const NewHost& host) {
  using Point = simgrid::kernel::routing::NetPoint*;
  return sg::ClusterCallbacks([host](sg::NetZone* zone, const std::vector<unsigned long>& place, unsigned long id) {
    return std::pair<Point, Point>(host(zone, place, id)->get_netpoint(), nullptr);
  });
}

sg::NetZone* add_fat_tree(sg::Engine&, const FatTree& tree, const SimNetwork& network, const NewHost& host) {
  const auto levels = static_cast<unsigned int>(tree.down.size());
  return sg::create_fatTree_zone("fat-tree", nullptr, {levels, tree.down, tree.up, tree.count}, leaves(host),
                                 network.bytes_per_second, network.latency_seconds, kFullDuplex);
}

sg::NetZone* add_torus(sg::Engine&, const std::vector<unsigned long>& sides, const SimNetwork& network,
                       const NewHost& host) {
  return sg::create_torus_zone("torus", nullptr, sides, leaves(host), network.bytes_per_second, network.latency_seconds,
                               kFullDuplex);
}

sg::NetZone* add_dragonfly(sg::Engine&, const Dragonfly& size, const SimNetwork& network, const NewHost& host) {
  return sg::create_dragonfly_zone("dragonfly", nullptr, {size.groups, size.chassis, size.routers, size.hosts},
                                   leaves(host), network.bytes_per_second, network.latency_seconds, kFullDuplex);
}

#endif

/// Adds a host for each rank, with a link to the zone's middle and one back.
void add_ranks(sg::NetZone* zone, int first, int end, double bandwidth, double latency, std::vector<sg::Host*>& hosts) {
  for (int rank = first; rank < end; ++rank) {
    const auto link = [&](const char* name) {
      return add_link(zone, fmt::format("{}{}", name, rank), bandwidth, latency / 2);
    };
    hosts.push_back(add_host(zone, fmt::format("rank{}", rank)));
    add_route(zone, hosts.back(), nullptr, link("up"));
    add_route(zone, nullptr, hosts.back(), link("down"));
  }
}

std::vector<sg::Host*> make_star(sg::Engine& engine, const SimNetwork& network, int num_ranks) {
  sg::NetZone* zone = add_star(engine);
  std::vector<sg::Host*> hosts;
  if (network.ranks_per_host == 1) {
    add_ranks(zone, 0, num_ranks, network.bytes_per_second, network.latency_seconds, hosts);
    zone->seal();
    return hosts;
  }
  for (int first = 0; first < num_ranks; first += network.ranks_per_host) {
    const std::string name = fmt::format("host{}", first / network.ranks_per_host);
    sg::NetZone* host = add_inner_star(zone, name);
    add_ranks(host, first, std::min(first + network.ranks_per_host, num_ranks), network.host_bytes_per_second,
              network.host_latency_seconds, hosts);
    host->seal();
    const auto link = [&](const char* way) {
      return add_link(zone, name + way, network.bytes_per_second, network.latency_seconds / 2);
    };
    add_zone_route(zone, host, nullptr, link("_up"));
    add_zone_route(zone, nullptr, host, link("_down"));
  }
  zone->seal();
  return hosts;
}

unsigned int ceil_div(unsigned int whole, unsigned int part) {
  return (whole + part - 1) / part;
}

/// Full bisection: each switch has as many links up as down. Two levels of 16 ports serve 256 hosts, three 4,096.
FatTree fat_tree_for(unsigned int num_ranks) {
  constexpr unsigned int kPorts = 16;
  if (num_ranks <= kPorts) return {{std::max(num_ranks, 2U)}, {1}, {1}};
  if (num_ranks <= kPorts * kPorts) return {{kPorts, ceil_div(num_ranks, kPorts)}, {1, kPorts}, {1, 1}};
  return {{kPorts, kPorts, ceil_div(num_ranks, kPorts * kPorts)}, {1, kPorts, kPorts}, {1, 1, 1}};
}

/// The smallest near-cube with room for the ranks: no two sides differ by more than 1.
std::vector<unsigned long> torus_for(unsigned long num_ranks) {
  std::vector<unsigned long> sides = {2, 2, 2};  // with a side of 1, SimGrid would give two links the same name
  while (sides[0] * sides[1] * sides[2] < num_ranks) ++*std::min_element(sides.begin(), sides.end());
  return sides;
}

/// Groups of 2 chassis of as many routers as it takes, with 8 hosts each. Links are bundled as in Cray's Cascade: 1
/// between the routers of a chassis, 3 between the chassis of a group; 8 between two groups. SimGrid attaches the
/// bundles to other groups to the routers of a group's first chassis, one each, so there are as many groups as such
/// routers.
Dragonfly dragonfly_for(unsigned int num_ranks) {
  constexpr unsigned int kChassis = 2, kHosts = 8;
  unsigned int routers = 2;
  while (routers * kChassis * routers * kHosts < num_ranks) ++routers;
  return {{routers, 8}, {kChassis, 3}, {routers, 1}, kHosts};
}

}  // namespace

std::vector<sg::Host*> make_platform(sg::Engine& engine, const SimNetwork& network, int num_ranks) {
  if (network.platform == "star") return make_star(engine, network, num_ranks);
  const auto size = static_cast<unsigned int>(num_ranks);
  std::vector<sg::Host*> hosts;
  const NewHost new_host = [&hosts](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    hosts.push_back(add_host(zone, fmt::format("host{}", id)));
    return hosts.back();
  };
  sg::NetZone* zone = network.platform == "fat-tree" ? add_fat_tree(engine, fat_tree_for(size), network, new_host)
                      : network.platform == "torus"  ? add_torus(engine, torus_for(size), network, new_host)
                                                     : add_dragonfly(engine, dragonfly_for(size), network, new_host);
  zone->seal();
  hosts.resize(static_cast<std::size_t>(num_ranks));
  return hosts;
}

}  // namespace lab::comm
