#include "common/bench/twin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"
#include "common/comm/rendezvous/socket.h"

namespace lab {
namespace {

using Time = std::chrono::steady_clock::time_point;

Time in_seconds(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

comm::RendezvousPlace meeting_place(const std::string& folder, const std::string& name, int rank) {
  comm::RendezvousPlace place;
  place.socket_path = fmt::format("{}/{}.{}", folder, name, rank);
  return place;
}

/// A line that ends by the deadline, without its end; `received` keeps what comes after it.
std::optional<std::string> read_line(int fd, std::string& received, Time deadline) {
  for (;;) {
    const std::size_t end = received.find('\n');
    if (end != std::string::npos) {
      const std::string line = received.substr(0, end);
      received.erase(0, end + 1);
      return line;
    }
    char bytes[256];
    if (!comm::wait_for(fd, POLLIN, deadline)) return std::nullopt;
    const ssize_t count = ::recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return std::nullopt;
    received.append(bytes, static_cast<std::size_t>(count));
  }
}

}  // namespace

Twin::Twin(const std::string& folder, const std::string& name, int rank)
    : loss_(fmt::format("{}/{}.lost", folder, name)) {
  comm::RendezvousPlace place = meeting_place(folder, name, rank);
  listeners_ = comm::listen_at(place, in_seconds(10));
}

/// Waits until there is something to read; false at the deadline, and as soon as this or another twin of the peer is lost.
bool Twin::awaits(int fd) const {
  constexpr double kLookSeconds = 0.1;
  for (;;) {
    if (comm::wait_for(fd, POLLIN, std::min(deadline_, in_seconds(kLookSeconds)))) return true;
    if (std::chrono::steady_clock::now() >= deadline_ || ::access(loss_.c_str(), F_OK) == 0) return false;
    if (has_ended_ && has_ended_()) return comm::wait_for(fd, POLLIN, in_seconds(0));
  }
}

std::optional<std::string> Twin::line() {
  return awaits(connection_.get()) ? read_line(connection_.get(), received_, deadline_) : std::nullopt;
}

void Twin::lose() {
  is_lost_ = true;
  const UniqueFd note(::open(loss_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

bool Twin::has_come(double max_seconds) {
  if (connection_.get() >= 0) return true;
  deadline_ = in_seconds(max_seconds);
  if (!awaits(listeners_.front().get())) return false;
  connection_ = UniqueFd(::accept4(listeners_.front().get(), nullptr, nullptr, SOCK_CLOEXEC));
  return connection_.get() >= 0;
}

void Twin::ask(const TwinBlock& block, double max_seconds) {
  if (!is_lost_ && !is_asked(block, max_seconds)) lose();
}

bool Twin::is_asked(const TwinBlock& block, double max_seconds) {
  if (!has_come(max_seconds)) return false;
  deadline_ = in_seconds(max_seconds);
  if (library_.empty()) {
    const std::optional<std::string> name = line();
    if (!name) return false;
    library_ = *name;
  }
  const std::string request = fmt::format("{} {} {}\n", block.collective, block.bytes, block.calls);
  return comm::send_all(connection_.get(), request, deadline_) == 0;
}

std::optional<TwinAnswer> Twin::answer() {
  if (is_lost_) return std::nullopt;
  TwinAnswer answer;
  std::istringstream text(line().value_or(""));
  if (text >> answer.seconds >> answer.wrong >> answer.switches) return answer;
  lose();
  return std::nullopt;
}

void serve_as_twin(const std::string& folder, const std::string& name, int rank, const std::string& library,
                   const std::function<TwinAnswer(const TwinBlock&)>& run) {
  const Time never = Time::max();
  const comm::RendezvousPlace place = meeting_place(folder, name, rank);
  UniqueFd connection;
  const int error =
      comm::connect_to(comm::resolve_addresses(place, in_seconds(10)).front(), in_seconds(10), connection);
  if (error != 0) throw UsageError(fmt::format("nothing listens at {}: {}", place.text(), describe_error(error)));
  const auto say = [&](const std::string& text) { return comm::send_all(connection.get(), text + "\n", never) == 0; };
  std::string received;
  bool is_heard = say(library);
  while (is_heard) {
    TwinBlock block;
    const std::optional<std::string> request = read_line(connection.get(), received, never);
    if (!request || !(std::istringstream(*request) >> block.collective >> block.bytes >> block.calls)) return;
    const TwinAnswer answer = run(block);
    is_heard = say(fmt::format("{:.9e} {} {:.9e}", answer.seconds, answer.wrong, answer.switches));
  }
}

}  // namespace lab
