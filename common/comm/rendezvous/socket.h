#pragma once

#include <sys/socket.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/files.h"

namespace lab::comm {

/// Runs `work`, which may block indefinitely (a name lookup, another library's client), on its own thread and returns
/// its result, or nothing if the deadline passes first. The thread is then left running: `work` must own everything it
/// uses, and the process must end by _exit, as every rank does. Errors: those of work.
template <typename Work>
auto finish_by(std::chrono::steady_clock::time_point deadline, Work work) -> std::optional<decltype(work())> {
  auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
  auto result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (result.wait_until(deadline) != std::future_status::ready) return std::nullopt;
  return result.get();
}

/// Where rank 0 serves the rendezvous: a Unix-domain socket for the ranks of one machine, else an address and a port.
struct RendezvousPlace {
  std::string socket_path;
  std::string host;
  int port = 0;  ///< 0: any free one; listen_at() sets it

  std::string text() const { return socket_path.empty() ? host + ":" + std::to_string(port) : socket_path; }
};

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  std::shared_ptr<UniqueFd> folder;  ///< of a Unix-domain socket whose path is too long for an address

  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Every address of the place. A name that has none yet is looked up again until the deadline.
/// Errors    CommError: the host has none by then
std::vector<SocketAddress> resolve_addresses(const RendezvousPlace& place,
                                             std::chrono::steady_clock::time_point deadline);

/// Listens at the place's own addresses only, so that 127.0.0.1 cannot be reached from another machine; sets the port
/// that was chosen. Does not wait for connections.
/// Errors    UsageError: the port is in use, the host is not this machine, the path cannot be created; CommError: as
///           resolve_addresses()
std::vector<UniqueFd> listen_at(RendezvousPlace& place, std::chrono::steady_clock::time_point deadline);

/// Connects to one address, at most until the deadline. Returns an errno, or 0 and sets fd.
int connect_to(const SocketAddress& address, std::chrono::steady_clock::time_point deadline, UniqueFd& fd);

/// Waits until the descriptor has one of these poll(2) events; false if the deadline passes first.
bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline);

/// Sends all of the bytes, at most until the deadline. Returns 0 or an errno (ETIMEDOUT at the deadline).
int send_all(int fd, std::string_view bytes, std::chrono::steady_clock::time_point deadline);

/// This machine's address on the route to `host`, at which other machines can reach it. Sends nothing.
/// Errors    as resolve_addresses(); UsageError: there is no route
std::string address_towards(const std::string& host, std::chrono::steady_clock::time_point deadline);

}  // namespace lab::comm
