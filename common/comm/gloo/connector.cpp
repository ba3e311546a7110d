#include "common/comm/gloo/connector.h"

#include <dirent.h>
#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/base/random_token.h"
#include "common/base/text.h"
#include "common/comm/gloo/agent_store.h"
#include "common/comm/gloo/lifeline.h"
#include "common/comm/rendezvous/client.h"
#include "common/comm/rendezvous/loopback.h"
#include "common/comm/rendezvous/server.h"

namespace lab::comm {
namespace {

// 0 if the system does not tell.
int num_open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int count = -3;  // ".", ".." and the folder itself
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return std::max(count, 0);
}

/// Checks, before anything is half done, that this process can open `num_needed` more files and sockets; raises the
/// soft limit up to the hard one if that helps.
/// Errors    UsageError: too few are allowed; the message names ulimit -n
void reserve_descriptors(int num_needed) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const int num_open = num_open_descriptors();
  const auto wanted = static_cast<rlim_t>(num_open + num_needed);
  if (wanted <= limit.rlim_cur) return;
  if (wanted <= limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  }
  throw UsageError(
      fmt::format("too few file descriptors: expected {} to be allowed ({} are open, and the connections to the other "
                  "ranks need {} more), got {}; hint: raise the limit, as with ulimit -n 1024",
                  wanted, num_open, num_needed, limit.rlim_cur));
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long a rank that lost a connection waits to hear from rank 0 which rank is gone.
constexpr milliseconds kForTheCulprit{500};

milliseconds to_milliseconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Descriptors of an open device: its loop, its listener, and interface lookup.
constexpr int kDescriptorsOfDevice = 6;
/// Descriptors of the rendezvous on rank 0 besides one per rank: listeners, an event, this rank's own end, and a few
/// strangers.
constexpr int kDescriptorsOfServer = 8;

/// Gloo's device; what the machine refuses, such as a thread, is no matter of the address.
std::shared_ptr<gloo::transport::Device> create_device(const gloo::transport::tcp::attr& attr) {
  try {
    return gloo::transport::tcp::CreateDevice(attr);
  } catch (const std::system_error& failure) {
    throw UsageError(get_message(failure));
  }
}

/// At the first interface of the list that can be used.
std::shared_ptr<gloo::transport::Device> device_on(const std::string& interfaces) {
  std::string names = interfaces;
  names.erase(std::remove(names.begin(), names.end(), ' '), names.end());
  for (const std::string_view name : split(names, ',')) {
    gloo::transport::tcp::attr attr;
    attr.iface = name;
    try {
      if (!name.empty()) return create_device(attr);
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception&) {  // no such interface, or it has no address
    }
  }
  throw UsageError(fmt::format(
      "GLOO_SOCKET_IFNAME: expected the name of a network interface that is up, or several with commas between them, "
      "got '{}'; hint: `ip link` lists them",
      interfaces));
}

std::shared_ptr<gloo::transport::Device> open_device(const ProcessWorldOptions& options, Clock::time_point deadline) {
  if (const char* interfaces = std::getenv("GLOO_SOCKET_IFNAME"); interfaces != nullptr && *interfaces != '\0')
    return device_on(interfaces);
  const bool on_this_machine = !options.rendezvous.socket_path.empty() || options.size == 1;
  gloo::transport::tcp::attr attr;
  attr.hostname = on_this_machine ? loopback_address() : address_towards(options.rendezvous.host, deadline);
  try {
    return create_device(attr);
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& failure) {
    throw UsageError(
        fmt::format("cannot communicate over the address '{}' of this machine: {}; hint: name an interface "
                    "that all ranks can reach with GLOO_SOCKET_IFNAME",
                    attr.hostname, failure.what()));
  }
}

/// Gloo's full mesh, with all connections made concurrently: each takes one or two 10 ms turns of Gloo's event loop,
/// and Gloo's own connectFullMesh() makes them one after the other.
class MeshContext final : public gloo::rendezvous::Context, public std::enable_shared_from_this<MeshContext> {
 public:
  MeshContext(int own_rank, int num_ranks, std::shared_ptr<gloo::transport::Device> device, milliseconds timeout)
      : gloo::rendezvous::Context(own_rank, num_ranks) {
    setTimeout(timeout);
    device_ = std::move(device);
    transportContext_ = device_->createContext(rank, size);
    transportContext_->setTimeout(timeout);
  }

  /// One address per member, all of the same length; this rank's is blank.
  std::string addresses() {
    std::vector<std::string> all(static_cast<std::size_t>(size));
    std::size_t length = 0;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> address = transportContext_->createPair(peer)->address().bytes();
      all[static_cast<std::size_t>(peer)].assign(address.begin(), address.end());
      length = address.size();
    }
    std::string joined;
    for (std::string& address : all) {
      address.resize(length);
      joined += address;
    }
    return joined;
  }

  /// Connects to every member at the address that it left for this one, each on its own thread, which keeps this object
  /// alive: Gloo's attempts cannot be interrupted.
  std::vector<std::future<void>> connect(const std::string& theirs) {
    const std::size_t length = theirs.size() / static_cast<std::size_t>(size);
    std::vector<std::future<void>> connections;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::string text = theirs.substr(static_cast<std::size_t>(peer) * length, length);
      std::packaged_task<void()> task(
          [self = shared_from_this(), peer, address = std::vector<char>(text.begin(), text.end())] {
            self->transportContext_->getPair(peer)->connect(address);
          });
      connections.push_back(task.get_future());
      std::thread(std::move(task)).detach();
    }
    return connections;
  }
};

class RendezvousConnector final : public Connector {
 public:
  explicit RendezvousConnector(const ProcessWorldOptions& options)
      : rank_(options.rank), timeout_(to_milliseconds(options.timeout_seconds)) {
    const Clock::time_point deadline = Clock::now() + timeout_;
    if (options.size > 1) arrive(options, deadline);
    try {
      reserve_descriptors(kDescriptorsOfDevice);
      device_ = open_device(options, deadline);
    } catch (const Error& error) {
      if (client_) client_->give_up(error.what());
      throw;
    }
  }

  std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int rank, int size) override {
    auto context = std::make_shared<MeshContext>(rank, size, device_, timeout_);
    if (size > 1) {
      try {
        reserve_descriptors(size - 1);
      } catch (const Error& error) {
        client_->give_up(error.what());
        throw;
      }
      const Clock::time_point deadline = Clock::now() + timeout_;
      const std::string addresses = client_->exchange(name, rank, size, context->addresses(), seconds());
      for (std::future<void>& connection : context->connect(addresses)) await(connection, deadline);
    }
    context->setTimeout(kForGloo);
    return context;
  }

  void pulse(const Pulse& pulse) override {
    if (client_) client_->pulse(pulse);
  }

  std::optional<std::string> late_rank(const Pulse& pulse) override {
    return client_ ? client_->late_rank(pulse) : std::nullopt;
  }

  [[noreturn]] void connection_lost() override {
    if (client_) client_->listen_until(Clock::now() + kForTheCulprit);
    throw CommError(
        fmt::format("rendezvous: rank {} could not connect to every other rank; hint: name the network interface that "
                    "they share with GLOO_SOCKET_IFNAME",
                    rank_));
  }

 private:
  void arrive(const ProcessWorldOptions& options, Clock::time_point deadline) {
    const RendezvousPoint& point = options.rendezvous;
    RendezvousTicket ticket{{point.socket_path, point.host, point.port}, point.token};
    const bool serves = options.rank == 0;
    if (point.agent_store && serves) ticket = {{"", address_towards(point.host, deadline), 0}, random_token()};
    if (point.agent_store && !serves) ticket = await_ticket(point, deadline);
    if (serves) {
      reserve_descriptors(options.size + kDescriptorsOfServer);
      server_ = std::make_unique<RendezvousServer>(ticket.place, options.size, ticket.token, deadline);
      ticket.place = server_->place();
      if (point.agent_store) leave_ticket(point, ticket, deadline);
    }
    char machine[256] = "this machine";
    ::gethostname(machine, sizeof(machine) - 1);
    Arrival arrival;
    arrival.rank = options.rank;
    arrival.size = options.size;
    arrival.timeout_ms = static_cast<int>(timeout_.count());
    arrival.token = ticket.token;
    arrival.fingerprint = options.fingerprint;
    arrival.process = fmt::format("process {} on {}", ::getpid(), machine);
    client_ = std::make_unique<RendezvousClient>(ticket.place, arrival, deadline);
  }

  // Meanwhile rank 0 may say that a rank is gone.
  void await(std::future<void>& connection, Clock::time_point deadline) {
    while (connection.wait_for(milliseconds(5)) != std::future_status::ready) {
      client_->listen_until(Clock::now());
      if (Clock::now() > deadline) connection_lost();
    }
    try {
      connection.get();
    } catch (const std::exception&) {
      connection_lost();
    }
  }

  double seconds() const { return std::chrono::duration<double>(timeout_).count(); }

  const int rank_;
  const milliseconds timeout_;
  std::unique_ptr<RendezvousServer> server_;  ///< on rank 0; destroyed after its client
  std::unique_ptr<RendezvousClient> client_;  ///< null if the world is one rank
  std::shared_ptr<gloo::transport::Device> device_;
};

}  // namespace

std::unique_ptr<Connector> Connector::open(const ProcessWorldOptions& options) {
  return std::make_unique<RendezvousConnector>(options);
}

}  // namespace lab::comm
