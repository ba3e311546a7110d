#include "common/comm/rendezvous/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <vector>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"
#include "common/comm/rendezvous/rendezvous.h"

namespace lab::comm {
namespace {

using Time = std::chrono::steady_clock::time_point;

// A rank introduces itself as soon as it is connected; the rest allows for a busy machine.
constexpr std::chrono::seconds kForIntroduction{5};
constexpr std::chrono::seconds kForFarewell{1};
// With more connections without an introduction than this, the oldest is dropped. A rank dropped this way retries.
constexpr int kMaxStrangers = 128;

}  // namespace

class RendezvousServer::Loop {
 public:
  Loop(std::vector<UniqueFd> listeners, std::string socket_path, int size, const std::string& token)
      : listeners_(std::move(listeners)),
        socket_path_(std::move(socket_path)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        rendezvous_(size, token) {
    if (wake_.get() < 0) throw UsageError(fmt::format("rendezvous: rank 0: {}", describe_error(errno)));
  }
  ~Loop() { unlink_socket(); }

  void stop() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  void run() {
    // The server takes arrivals, and sends each its answer, until all ranks have one or the deadline has passed.
    while (!finished(now())) {
      const std::vector<pollfd> ready = wait();
      for (const pollfd& entry : ready) {
        if (entry.revents != 0) handle(entry.fd, entry.revents);
      }
      deliver(rendezvous_.expire(now()));
      drop_silent_strangers();
      if (rendezvous_.complete()) unlink_socket();
    }
  }

 private:
  struct Connection {
    UniqueFd fd;
    Time introduce_by;
    RendezvousStream in{kMaxArrivalBytes};
    std::string out;
    bool turned_away = false;  ///< close it once `out` is sent
  };

  static Time now() { return std::chrono::steady_clock::now(); }

  bool finished(Time time) const {
    if (!stop_by_) return false;
    const bool all_said = std::all_of(connections_.begin(), connections_.end(),
                                      [](const auto& entry) { return entry.second.out.empty(); });
    return time >= *stop_by_ || (all_said && !rendezvous_.has_more_to_tell());
  }

  std::vector<pollfd> wait() {
    std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}};
    for (const UniqueFd& listener : listeners_) entries.push_back({listener.get(), POLLIN, 0});
    std::optional<Time> next = rendezvous_.next_deadline();
    const auto by = [&next](Time time) { next = next ? std::min(*next, time) : time; };
    if (stop_by_) by(*stop_by_);
    for (const auto& [fd, connection] : connections_) {
      entries.push_back({fd, static_cast<short>(connection.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      if (!rendezvous_.has_arrived(fd)) by(connection.introduce_by);
    }
    int timeout_ms = -1;
    if (next) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*next - now()).count();
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(rest, 0, 60'000));
    }
    if (::poll(entries.data(), entries.size(), timeout_ms) < 0) entries.clear();
    return entries;
  }

  void handle(int fd, short events) {
    if (fd == wake_.get()) {
      std::uint64_t count = 0;
      if (::read(fd, &count, sizeof(count)) > 0) stop_by_ = now() + kForFarewell;
    } else if (const auto found = connections_.find(fd); found != connections_.end()) {
      if ((events & POLLOUT) != 0) flush(found->second);
      if ((events & ~POLLOUT) != 0) read(fd);
    } else if (std::any_of(listeners_.begin(), listeners_.end(), [fd](const auto& own) { return own.get() == fd; })) {
      accept_all(fd);
    }
  }

  void accept_all(int listener) {
    while (true) {
      UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      const int error = errno;
      if (fd.get() >= 0) {
        const int key = fd.get();
        Connection& connection = connections_[key];
        connection.fd = std::move(fd);
        connection.introduce_by = now() + kForIntroduction;
        if (num_strangers() > kMaxStrangers) drop_oldest_stranger();
      } else if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
        if (num_strangers() > 0) {
          drop_oldest_stranger();
          continue;
        }
        // Without descriptors the listener would stay readable and poll() would return at once, forever.
        listeners_.clear();
        if (!rendezvous_.complete()) {
          deliver(rendezvous_.fail(
              {static_cast<int>(ExitCode::kUsage),
               fmt::format("rendezvous: rank 0 cannot accept another rank: {}", describe_error(error))}));
        }
        return;
      } else if (error != EINTR && error != ECONNABORTED) {
        return;  // EAGAIN: that was all
      }
    }
  }

  bool is_stranger(int fd) const { return !rendezvous_.has_arrived(fd); }

  int num_strangers() const {
    return static_cast<int>(std::count_if(connections_.begin(), connections_.end(),
                                          [this](const auto& entry) { return is_stranger(entry.first); }));
  }

  void drop_oldest_stranger() {
    auto oldest = connections_.end();
    for (auto entry = connections_.begin(); entry != connections_.end(); ++entry) {
      if (is_stranger(entry->first) &&
          (oldest == connections_.end() || entry->second.introduce_by < oldest->second.introduce_by)) {
        oldest = entry;
      }
    }
    if (oldest != connections_.end()) connections_.erase(oldest);
  }

  void drop_silent_strangers() {
    const Time time = now();
    for (auto entry = connections_.begin(); entry != connections_.end();) {
      const bool gone = is_stranger(entry->first) && time >= entry->second.introduce_by;
      entry = gone ? connections_.erase(entry) : std::next(entry);
    }
  }

  void read(int fd) {
    char buffer[4096];
    const ssize_t num_read = ::recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (num_read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (num_read <= 0) return drop(fd);
    Connection& connection = connections_.at(fd);
    if (connection.turned_away) return;
    try {
      connection.in.append({buffer, static_cast<std::size_t>(num_read)});
      while (const auto message = connection.in.next()) {
        deliver(rendezvous_.receive(fd, *message, now()));
        if (is_stranger(fd)) return turn_away(fd);
        connection.in.allow(kMaxExchangeBytes);
      }
    } catch (const WireError&) {
      drop(fd);
    }
  }

  void turn_away(int fd) {
    Connection& connection = connections_.at(fd);
    connection.turned_away = true;
    if (connection.out.empty()) connections_.erase(fd);
  }

  void drop(int fd) {
    connections_.erase(fd);
    deliver(rendezvous_.closed(fd));
  }

  void deliver(const std::vector<Rendezvous::Reply>& replies) {
    for (const Rendezvous::Reply& reply : replies) {
      const auto found = connections_.find(reply.connection);
      if (found == connections_.end()) continue;
      found->second.out += to_bytes(reply.message);
      flush(found->second);
    }
  }

  // A broken connection is detected by the next poll(), or by the deadlines.
  void flush(Connection& connection) {
    while (!connection.out.empty()) {
      const ssize_t num_sent =
          ::send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (num_sent < 0 && errno == EINTR) continue;
      if (num_sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (num_sent < 0) return connection.out.clear();
      connection.out.erase(0, static_cast<std::size_t>(num_sent));
    }
  }

  void unlink_socket() {
    if (socket_path_.empty()) return;
    if (socket_path_[0] != '@') ::unlink(socket_path_.c_str());
    socket_path_.clear();
    listeners_.clear();
  }

  std::vector<UniqueFd> listeners_;
  std::string socket_path_;
  UniqueFd wake_;
  Rendezvous rendezvous_;
  std::map<int, Connection> connections_;  ///< by descriptor
  std::optional<Time> stop_by_;
};

RendezvousServer::RendezvousServer(RendezvousPlace place, int size, const std::string& token,
                                   std::chrono::steady_clock::time_point deadline)
    : place_(std::move(place)) {
  std::vector<UniqueFd> listeners = listen_at(place_, deadline);
  loop_ = std::make_unique<Loop>(std::move(listeners), place_.socket_path, size, token);
  thread_ = std::thread([this] { loop_->run(); });
}

RendezvousServer::~RendezvousServer() {
  loop_->stop();
  thread_.join();
}

}  // namespace lab::comm
