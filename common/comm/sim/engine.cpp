#include "common/comm/sim/engine.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <csignal>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <vector>

#include "common/comm/sim/network.h"
#include "common/comm/sim/platform.h"

// SimGrid runs an actor until it calls into SimGrid, then the next one; when none can run, its kernel moves the clock.
// Here an actor's only such call is suspend(). Messages to start and ranks to wake are collected meanwhile and
// processed by the kernel in one batch, before the clock moves, using a timer for "now". That makes one switch per wait
// and none per message. When a communication started by the kernel completes, SimGrid reports it to the kernel; one
// started by an actor is only reported to an actor that waits for it.
namespace lab::comm {
namespace {

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
    hosts = make_platform(*engine, network, num_ranks);
    on_completion([this](const sg::Comm& communication) {
      auto* delivery = communication.get_data<Delivery>();
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
  /// default, 1 ns (3.32 and 4.0), would merge messages whose sizes differ by a byte.
  void keep_precision() {
    const double rounding = 1e-15 * sg::Engine::get_clock();
    if (precision_seconds > rounding) return;
    precision_seconds = std::max(1e-12, 10 * rounding);
    sg::Engine::set_config(fmt::format("{}:{:g}", kPrecision, precision_seconds));
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
    impl_->actors.push_back(add_actor("rank", impl_->hosts[rank], [&body, rank] { body(static_cast<int>(rank)); }));
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
