#include "common/comm/rendezvous/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"

namespace lab::comm {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kLongestPause{500};  // between two attempts to look up a name

struct Lookup {
  int error = EAI_AGAIN;
  std::vector<SocketAddress> addresses;
};

Lookup look_up(const std::string& host, int port, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Lookup result;
  result.error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result.error != 0) return result;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    result.addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return result;
}

SocketAddress unix_address(const std::string& path) {
  SocketAddress address;
  sockaddr_un unix_path = {};
  unix_path.sun_family = AF_UNIX;
  if (path.size() < sizeof(unix_path.sun_path) && path[0] == '@') {  // in the abstract namespace
    std::memcpy(unix_path.sun_path + 1, path.c_str() + 1, path.size() - 1);
    std::memcpy(&address.storage, &unix_path, sizeof(unix_path));
    address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    return address;
  }
  std::string short_path = path;
  if (const std::size_t slash = path.rfind('/');
      path.size() >= sizeof(unix_path.sun_path) && slash != std::string::npos) {
    address.folder =
        std::make_shared<UniqueFd>(::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    short_path = fmt::format("/proc/self/fd/{}/{}", address.folder->get(), path.substr(slash + 1));
  }
  if (short_path.size() >= sizeof(unix_path.sun_path))
    throw UsageError(fmt::format("rendezvous: the file name of {} is too long for a socket", path));
  std::memcpy(unix_path.sun_path, short_path.c_str(), short_path.size());
  std::memcpy(&address.storage, &unix_path, sizeof(unix_path));
  address.length = sizeof(unix_path);
  return address;
}

// Debian maps the host name to this address if the machine has no fixed one: other machines cannot use it.
bool is_debian_host_name(const SocketAddress& address) {
  sockaddr_in ipv4 = {};
  std::memcpy(&ipv4, &address.storage, sizeof(ipv4));
  return address.storage.ss_family == AF_INET && ntohl(ipv4.sin_addr.s_addr) == 0x7f000101;
}

void listen_anywhere(SocketAddress& address) {
  sockaddr_in ipv4 = {};
  std::memcpy(&ipv4, &address.storage, sizeof(ipv4));
  ipv4.sin_addr.s_addr = htonl(INADDR_ANY);
  std::memcpy(&address.storage, &ipv4, sizeof(ipv4));
}

bool is_same(const SocketAddress& a, const SocketAddress& b) {
  return a.length == b.length && std::memcmp(&a.storage, &b.storage, a.length) == 0;
}

/// Each address to listen at once, as a name may have one twice, or one that another covers: two listeners at one port
/// would collide.
std::vector<SocketAddress> different(const std::vector<SocketAddress>& addresses) {
  std::vector<SocketAddress> all = addresses;
  const auto debian = std::find_if(all.begin(), all.end(), is_debian_host_name);
  if (debian != all.end()) {
    SocketAddress anywhere = *debian;
    listen_anywhere(anywhere);
    for (SocketAddress& address : all) {
      if (address.storage.ss_family == AF_INET) address = anywhere;
    }
  }
  std::vector<SocketAddress> once;
  for (const SocketAddress& address : all) {
    const bool again =
        std::any_of(once.begin(), once.end(), [&](const auto& other) { return is_same(address, other); });
    if (!again) once.push_back(address);
  }
  return once;
}

void set_port(SocketAddress& address, int port) {
  const in_port_t in_order = htons(static_cast<std::uint16_t>(port));
  if (address.storage.ss_family == AF_INET) reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = in_order;
  if (address.storage.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = in_order;
}

int read_port(int fd) {
  SocketAddress own;
  own.length = sizeof(own.storage);
  ::getsockname(fd, own.generic(), &own.length);
  const bool is_ipv6 = own.storage.ss_family == AF_INET6;
  return ntohs(is_ipv6 ? reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_port
                       : reinterpret_cast<sockaddr_in*>(&own.storage)->sin_port);
}

// Returns an errno, or 0 and sets fd.
int try_listening(const SocketAddress& address, UniqueFd& fd) {
  fd = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return errno;
  const int yes = 1;  // a port with connections in TIME_WAIT counts as free
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (address.storage.ss_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
  if (::bind(fd.get(), address.generic(), address.length) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) return errno;
  return 0;
}

int milliseconds_until(Deadline deadline) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(rest, 0), 3600 * 1000));
}

// No process listens, but the system chose the target port as the local one and connected the socket to itself.
bool is_connected_to_itself(int fd) {
  SocketAddress own, peer;
  own.length = peer.length = sizeof(sockaddr_storage);
  return ::getsockname(fd, own.generic(), &own.length) == 0 && ::getpeername(fd, peer.generic(), &peer.length) == 0 &&
         own.storage.ss_family != AF_UNIX && is_same(own, peer);
}

}  // namespace

std::vector<SocketAddress> resolve_addresses(const RendezvousPlace& place, Deadline deadline) {
  if (!place.socket_path.empty()) return {unix_address(place.socket_path)};
  Lookup found = look_up(place.host, place.port, AI_NUMERICHOST);
  if (found.error == 0) return found.addresses;
  // The name of a container or pod that starts later cannot be found yet. Each attempt is given up at the deadline.
  for (auto pause = std::chrono::milliseconds(50);; pause = std::min(2 * pause, kLongestPause)) {
    const auto looked_up =
        finish_by(deadline, [host = place.host, port = place.port] { return look_up(host, port, 0); });
    if (looked_up && looked_up->error == 0) return looked_up->addresses;
    if (looked_up) found = *looked_up;
    if (std::chrono::steady_clock::now() + pause >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  throw CommError(fmt::format(
      "rendezvous: could not find the address of '{}' before the time-out ({}); hint: check MASTER_ADDR, that the "
      "machine of rank 0 has been started, and --timeout",
      place.host, ::gai_strerror(found.error)));
}

std::vector<UniqueFd> listen_at(RendezvousPlace& place, Deadline deadline) {
  std::vector<UniqueFd> listeners;
  UniqueFd fd;
  if (!place.socket_path.empty()) {
    const int error = try_listening(unix_address(place.socket_path), fd);
    if (error != 0) {
      throw UsageError(
          fmt::format("rendezvous: cannot create the socket {}: {}", place.socket_path, describe_error(error)));
    }
    listeners.push_back(std::move(fd));
    return listeners;
  }
  int last_error = 0;
  for (SocketAddress& address : different(resolve_addresses(place, deadline))) {
    set_port(address, place.port);
    last_error = try_listening(address, fd);
    if (last_error == EADDRINUSE) {
      throw UsageError(fmt::format(
          "rendezvous: port {} is in use on this machine; hint: choose another with MASTER_PORT or --master-port, and "
          "start rank 0 once only",
          place.port));
    }
    if (last_error != 0) continue;
    place.port = read_port(fd.get());
    listeners.push_back(std::move(fd));
  }
  if (!listeners.empty()) return listeners;
  if (last_error == EADDRNOTAVAIL) {
    throw UsageError(
        fmt::format("rendezvous: MASTER_ADDR: expected an address of the machine that rank 0 runs on, "
                    "got {}; hint: `ip address` lists them",
                    place.host));
  }
  throw UsageError(fmt::format("rendezvous: rank 0 cannot listen at {}: {}", place.text(), describe_error(last_error)));
}

int connect_to(const SocketAddress& address, Deadline deadline, UniqueFd& fd) {
  fd = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return errno;
  int error = ::connect(fd.get(), address.generic(), address.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    if (!wait_for(fd.get(), POLLOUT, deadline)) return ETIMEDOUT;
    socklen_t length = sizeof(error);
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  }
  if (error == 0 && is_connected_to_itself(fd.get())) error = ECONNREFUSED;
  if (error != 0) fd.reset();
  return error;
}

bool wait_for(int fd, short events, Deadline deadline) {
  pollfd entry = {fd, events, 0};
  // A signal ends poll() early, which is then called again with the time that is left.
  while (true) {
    const int found = ::poll(&entry, 1, milliseconds_until(deadline));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

int send_all(int fd, std::string_view bytes, Deadline deadline) {
  // A full socket buffer is waited for, up to the deadline.
  while (!bytes.empty()) {
    const ssize_t num_sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (num_sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(num_sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(fd, POLLOUT, deadline)) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string address_towards(const std::string& host, Deadline deadline) {
  const std::vector<SocketAddress> addresses = resolve_addresses({"", host, 9}, deadline);
  // Ranks must agree on the family, even if only some of their machines have both.
  for (const int family : {AF_INET, AF_INET6}) {
    for (const SocketAddress& address : addresses) {
      if (address.storage.ss_family != family) continue;
      const UniqueFd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      SocketAddress own;
      own.length = sizeof(own.storage);
      char text[NI_MAXHOST];
      if (fd.get() >= 0 && ::connect(fd.get(), address.generic(), address.length) == 0 &&
          ::getsockname(fd.get(), own.generic(), &own.length) == 0 &&
          ::getnameinfo(own.generic(), own.length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0) {
        return text;
      }
    }
  }
  throw UsageError(fmt::format("rendezvous: this machine has no route to {}; hint: check MASTER_ADDR", host));
}

}  // namespace lab::comm
