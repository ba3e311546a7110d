#include "common/comm/gloo_backend_meeting.h"

#include <arpa/inet.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/comm/gloo_backend_lifeline.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

milliseconds to_milliseconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Asks for `present` until it holds or the deadline passes; quick at first, since ranks of one launch come together.
template <typename Present>
bool poll_until(Clock::time_point deadline, const Present& present) {
  for (int tries = 0; !present(); ++tries) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(tries < 50 ? milliseconds(1) : milliseconds(10));
  }
  return true;
}

/// Newer LibTorch can serve the store by libuv and tries to by default; the packaged builds lack it.
template <typename Options>
auto without_libuv(Options& options, int) -> decltype(options.useLibUV, void()) {
  options.useLibUV = false;
}
template <typename Options>
void without_libuv(Options&, long) {}

/// c10d logs its own account of every failed attempt; the one sentence that this suite throws says it all.
void silence_c10d() {
  FLAGS_caffe2_log_level = 3;  // fatal
  c10::UpdateLoggingLevelsFromFlags();
}

std::unique_ptr<c10d::Store> open_tcp_store(const ProcessWorldOptions& options) {
  const MeetingPoint& meeting = options.meeting;
  c10d::TCPStoreOptions store_options;
  store_options.port = static_cast<std::uint16_t>(meeting.port);
  store_options.isServer = options.rank == 0 && !meeting.already_served;
  store_options.numWorkers = static_cast<std::size_t>(options.size);
  store_options.waitWorkers = false;
  store_options.timeout = to_milliseconds(options.timeout_seconds);
  without_libuv(store_options, 0);
  silence_c10d();
  try {
    return std::make_unique<c10d::TCPStore>(meeting.host, store_options);
  } catch (const std::exception& failure) {
    const std::string reason = failure.what();
    if (store_options.isServer && reason.find("in use") != std::string::npos) {
      throw UsageError(fmt::format(
          "the meeting: port {} is in use on this machine; hint: choose another with MASTER_PORT or --master-port",
          meeting.port));
    }
    throw CommError(
        fmt::format("the meeting: rank {} found nobody at {}:{} within {:g} s; expected rank 0 to listen there; hint: "
                    "check MASTER_ADDR, MASTER_PORT and that rank 0 was started",
                    options.rank, meeting.host, meeting.port, options.timeout_seconds));
  }
}

std::unique_ptr<c10d::Store> open_file_store(const ProcessWorldOptions& options) {
  const std::string& path = options.meeting.store_file;
  // c10d opens the file only at its first use, and then retries for minutes: look before.
  FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) throw UsageError(fmt::format("the meeting: cannot open the store file {}", path));
  std::fclose(file);
  auto store = std::make_unique<c10d::FileStore>(path, options.size);
  store->setTimeout(to_milliseconds(options.timeout_seconds));
  return store;
}

/// This machine's address on the way to `host`: what peers elsewhere can reach it by. Sends nothing.
std::string address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return "";
  std::string address;
  const int fd = socket(found->ai_family, SOCK_DGRAM, 0);
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  char text[NI_MAXHOST];
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0) {
    address = text;
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return address;
}

std::shared_ptr<gloo::transport::Device> open_device(const MeetingPoint& meeting) {
  gloo::transport::tcp::attr attr;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr && *interface != '\0') {
    attr.iface = interface;
  } else {
    attr.hostname = meeting.one_machine ? "127.0.0.1" : address_towards(meeting.host);
  }
  try {
    return gloo::transport::tcp::CreateDevice(attr);
  } catch (const std::exception&) {
    throw UsageError(fmt::format(
        "GLOO_SOCKET_IFNAME: expected the name of a network interface that is up, got '{}'; hint: `ip link` lists them",
        attr.iface.empty() ? attr.hostname : attr.iface));
  }
}

/// Gloo's full mesh, with all connections made at once: each takes a turn or two of Gloo's event loop, of 10 ms, and
/// Gloo's own connectFullMesh() takes them one after the other.
class MeshContext final : public gloo::rendezvous::Context {
 public:
  MeshContext(int own_rank, int num_ranks, std::shared_ptr<gloo::transport::Device> device, milliseconds timeout)
      : gloo::rendezvous::Context(own_rank, num_ranks) {
    setTimeout(timeout);
    device_ = std::move(device);
    transportContext_ = device_->createContext(rank, size);
    transportContext_->setTimeout(timeout);
  }

  /// Errors: gloo::Exception when a connection cannot be made.
  void connect(c10d::Store& store, const std::string& prefix) {
    const auto key = [&](int of_rank) { return fmt::format("{}/{}", prefix, of_rank); };
    // Under its key, each rank leaves one address per peer, in the peers' order: all of one length.
    std::vector<std::uint8_t> own;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> address = transportContext_->createPair(peer)->address().bytes();
      own.insert(own.end(), address.begin(), address.end());
    }
    store.set(key(rank), own);
    std::vector<std::future<void>> connections;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      if (!poll_until(Clock::now() + getTimeout(), [&] { return store.check({key(peer)}); })) {
        throw CommError(fmt::format("the meeting: rank {} arrived but did not leave its address in time", peer));
      }
      const std::vector<std::uint8_t> theirs = store.get(key(peer));
      const auto length = static_cast<std::ptrdiff_t>(theirs.size()) / (size - 1);
      const auto begin = theirs.begin() + length * (rank < peer ? rank : rank - 1);
      connections.push_back(
          std::async(std::launch::async, [this, peer, address = std::vector<char>(begin, begin + length)] {
            transportContext_->getPair(peer)->connect(address);
          }));
    }
    for (std::future<void>& connection : connections) connection.get();
  }
};

class StoreMeeting final : public Meeting {
 public:
  explicit StoreMeeting(const ProcessWorldOptions& options)
      : timeout_(to_milliseconds(options.timeout_seconds)),
        store_(options.meeting.store_file.empty() ? open_tcp_store(options) : open_file_store(options)),
        device_(open_device(options.meeting)) {
    await_all(options);
  }

  std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int rank, int size) override {
    auto context = std::make_shared<MeshContext>(rank, size, device_, timeout_);
    try {
      context->connect(*store_, "mesh/" + name);
    } catch (const gloo::Exception&) {
      throw CommError(fmt::format(
          "the meeting: rank {} could not connect to every other rank; hint: name the network interface that they "
          "share with GLOO_SOCKET_IFNAME",
          rank));
    }
    context->setTimeout(kForGloo);
    return context;
  }

 private:
  static std::string arrival_key(int rank) { return fmt::format("arrived/{}", rank); }

  void await_all(const ProcessWorldOptions& options) {
    store_->set(arrival_key(options.rank), std::vector<std::uint8_t>{1});
    std::vector<int> missing;
    for (int rank = 0; rank < options.size; ++rank) missing.push_back(rank);
    const auto nobody_missing = [&] {
      while (!missing.empty() && store_->check({arrival_key(missing.back())})) missing.pop_back();
      return missing.empty();
    };
    if (poll_until(Clock::now() + timeout_, nobody_missing)) return;
    std::vector<int> absent;
    for (const int rank : missing) {
      if (!store_->check({arrival_key(rank)})) absent.push_back(rank);
    }
    throw CommError(fmt::format(
        "the meeting: {} {} of {} did not arrive within {:g} s; hint: start every rank, or give more time with "
        "--timeout",
        absent.size() == 1 ? "rank" : "ranks", fmt::join(absent, ", "), options.size, options.timeout_seconds));
  }

  milliseconds timeout_;
  std::unique_ptr<c10d::Store> store_;
  std::shared_ptr<gloo::transport::Device> device_;
};

}  // namespace

std::unique_ptr<Meeting> Meeting::hold(const ProcessWorldOptions& options) {
  return std::make_unique<StoreMeeting>(options);
}

}  // namespace lab
