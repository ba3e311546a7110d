#include "common/comm/sim/engine.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <csignal>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <vector>

#include "common/comm/sim/network.h"

// SimGrid runs an actor until it calls into SimGrid, then the next one; when none can run, its kernel moves the clock.
// Here an actor's only such call is suspend(). Messages to start and ranks to wake are collected meanwhile and
// processed by the kernel in one batch, before the clock moves, using a timer for "now". That makes one switch per wait
// and none per message. When a communication started by the kernel completes, SimGrid reports it to the kernel; one
// started by an actor is only reported to an actor that waits for it.
namespace lab::comm {
namespace {

namespace sg = simgrid::s4u;

constexpr double kFlops = 1e9;  // irrelevant: computing takes no simulated time

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

/// Creates the leaf hosts of the zones that SimGrid lays out.
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

/// Full bisection: each switch has as many links up as down. Two levels of 16 ports serve 256 hosts, three 4,096.
sg::FatTreeParams fat_tree_for(unsigned int num_ranks) {
  constexpr unsigned int kPorts = 16;
  if (num_ranks <= kPorts) return {1, {std::max(num_ranks, 2U)}, {1}, {1}};
  if (num_ranks <= kPorts * kPorts) {
    return {2, {kPorts, ceil_div(num_ranks, kPorts)}, {1, kPorts}, {1, 1}};
  }
  return {3, {kPorts, kPorts, ceil_div(num_ranks, kPorts * kPorts)}, {1, kPorts, kPorts}, {1, 1, 1}};
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
sg::DragonflyParams dragonfly_for(unsigned int num_ranks) {
  constexpr unsigned int kChassis = 2, kHosts = 8;
  unsigned int routers = 2;
  while (routers * kChassis * routers * kHosts < num_ranks) ++routers;
  return {{routers, 8}, {kChassis, 3}, {routers, 1}, kHosts};
}

/// Creates the network as the root of the engine's platform, with at least num_ranks hosts; returns the ranks' hosts,
/// by rank. Neighbouring ranks are neighbours in the network.
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

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

// Per-thread state (LibTorch's modes and its engine's, the meters' accounts, exceptions in flight) belongs to a rank.
constexpr const char* kContexts = "--cfg=contexts/factory:thread";

}  // namespace

struct SimEngine::Impl {
  struct Delivery {
    int src_rank;
    int dst_rank;
    std::uint64_t num_bytes;
    std::function<void()> arrived;
    sg::CommPtr communication;
  };

  explicit Impl(const SimNetwork& network, int num_ranks) : engine(make_engine()) {
    configure();
    hosts = make_platform(network, num_ranks);
    sg::Activity::on_completion_cb([this](const sg::Activity& activity) {
      auto* delivery = static_cast<const sg::Comm&>(activity).get_data<Delivery>();
      delivery->arrived();
      delivered.emplace_back(delivery);  // SimGrid still uses the communication, so free it later
      call_kernel();
    });
  }

  static std::unique_ptr<sg::Engine> make_engine() {
    xbt_log_control_set("root.thresh:critical");
    std::vector<std::string> arguments = {"sim", kContexts};
    std::vector<char*> pointers = {arguments[0].data(), arguments[1].data(), nullptr};
    int count = 2;
    auto engine = std::make_unique<sg::Engine>(&count, pointers.data());
    // SimGrid's handlers print their own reports; the launcher reports how a process died.
    for (const int signal : {SIGINT, SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
    return engine;
  }

  static void configure() {
    for (const char* setting : {
             "network/model:CM02",       // latency + size / bandwidth, bandwidth shared max-min
             "network/crosstraffic:0",   // a flow takes nothing from the opposite direction
             "network/TCP-gamma:1e30",   // no window that limits a flow's rate
             "contexts/stack-size:1024"  // KiB per rank, of which only what is touched is real memory
         }) {
      sg::Engine::set_config(setting);
    }
    xbt_log_control_set("root.thresh:critical");
  }

  /// From an actor or the kernel: has the kernel call serve() at this simulated instant.
  void call_kernel() {
    if (called) return;
    called = true;
    Timer::set(sg::Engine::get_clock(), [this] { serve(); });
  }

  /// SimGrid merges events closer than this. It must exceed the clock's rounding errors, or events get lost; the
  /// default, 10 us, would merge the start and the end of a message.
  void keep_precision() {
    const double rounding = 1e-15 * sg::Engine::get_clock();
    if (precision_seconds > rounding) return;
    precision_seconds = std::max(1e-12, 10 * rounding);
    sg::Engine::set_config(fmt::format("surf/precision:{:g}", precision_seconds));
  }

  void serve() {
    called = false;
    keep_precision();
    delivered.clear();
    for (auto& delivery : to_start) {
      Delivery* started = delivery.release();  // it comes back when SimGrid reports it
      sg::Host* src = hosts[static_cast<std::size_t>(started->src_rank)];
      sg::Host* dst = hosts[static_cast<std::size_t>(started->dst_rank)];
      started->communication = sg::Comm::sendto_init(src, dst)->set_payload_size(started->num_bytes);
      started->communication->set_data(started);
      started->communication->start();
    }
    to_start.clear();
    for (const int rank : to_wake) actors[static_cast<std::size_t>(rank)]->resume();
    to_wake.clear();
  }

  std::unique_ptr<sg::Engine> engine;
  std::vector<sg::Host*> hosts;
  std::vector<sg::ActorPtr> actors;
  bool called = false;
  double precision_seconds = 0;
  std::vector<std::unique_ptr<Delivery>> to_start;
  std::vector<std::unique_ptr<Delivery>> delivered;
  std::vector<int> to_wake;
  Timer* alarm = nullptr;
};

SimEngine::SimEngine(const SimNetwork& network, int num_ranks) : impl_(std::make_unique<Impl>(network, num_ranks)) {}

SimEngine::~SimEngine() = default;

double SimEngine::now() const {
  return sg::Engine::get_clock();
}

void SimEngine::run(const std::function<void(int rank)>& body) {
  for (std::size_t rank = 0; rank < impl_->hosts.size(); ++rank) {
    impl_->actors.push_back(
        sg::Actor::create("rank", impl_->hosts[rank], [&body, rank] { body(static_cast<int>(rank)); }));
  }
  impl_->engine->run();
}

void SimEngine::block() {
  sg::this_actor::suspend();
}

void SimEngine::sleep(double seconds) {
  sg::this_actor::sleep_for(seconds);
}

void SimEngine::wake(int rank) {
  impl_->to_wake.push_back(rank);
  impl_->call_kernel();
}

void SimEngine::transfer(int src_rank, int dst_rank, std::uint64_t num_bytes, std::function<void()> arrived) {
  impl_->to_start.push_back(
      std::make_unique<Impl::Delivery>(Impl::Delivery{src_rank, dst_rank, num_bytes, std::move(arrived), nullptr}));
  impl_->call_kernel();
}

void SimEngine::set_alarm(double at_seconds, std::function<void()> ring) {
  clear_alarm();
  impl_->alarm = Timer::set(std::max(at_seconds, now()), [this, ring = std::move(ring)] {
    impl_->alarm = nullptr;
    ring();
  });
}

void SimEngine::clear_alarm() {
  if (impl_->alarm != nullptr) impl_->alarm->remove();
  impl_->alarm = nullptr;
}

}  // namespace lab::comm
