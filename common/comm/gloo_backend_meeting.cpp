#include "common/comm/gloo_backend_meeting.h"

#include <arpa/inet.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kForever = std::chrono::hours(24 * 30);

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

/// Gloo's view of a c10d store, with a prefix so that several meshes share one store.
class StoreAdapter final : public gloo::rendezvous::Store {
 public:
  StoreAdapter(c10d::Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(prefix_ + key, std::vector<std::uint8_t>(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::vector<std::uint8_t> data = store_.get(prefix_ + key);
    return std::vector<char>(data.begin(), data.end());
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, kDefaultTimeout); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    std::vector<std::string> prefixed;
    for (const std::string& key : keys) prefixed.push_back(prefix_ + key);
    if (!poll_until(Clock::now() + timeout, [&] { return store_.check(prefixed); })) {
      throw CommError("the meeting: a rank arrived but did not leave its address in time");
    }
  }

 private:
  c10d::Store& store_;
  std::string prefix_;
};

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

class StoreMeeting final : public Meeting {
 public:
  explicit StoreMeeting(const ProcessWorldOptions& options)
      : timeout_(to_milliseconds(options.timeout_seconds)),
        store_(options.meeting.store_file.empty() ? open_tcp_store(options) : open_file_store(options)),
        device_(open_device(options.meeting)) {
    await_all(options);
  }

  std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int rank, int size) override {
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->setTimeout(timeout_);
    StoreAdapter adapter(*store_, "mesh/" + name + "/");
    auto device = device_;
    try {
      context->connectFullMesh(adapter, device);
    } catch (const gloo::Exception&) {
      throw CommError(fmt::format(
          "the meeting: rank {} could not connect to every other rank; hint: name the network interface that they "
          "share with GLOO_SOCKET_IFNAME",
          rank));
    }
    context->setTimeout(kForever);
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
