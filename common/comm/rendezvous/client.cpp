#include "common/comm/rendezvous/client.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"

namespace lab::comm {
namespace {

using std::chrono::milliseconds;

// Rank 0 reports who is late. This is how much longer than its own patience a rank waits for that report.
constexpr milliseconds kForTheReason{1000};
// For one attempt at one of several addresses.
constexpr milliseconds kForOneAddress{3000};
constexpr std::size_t kMaxReplyBytes = 16 << 20;

RendezvousClient::Time after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

constexpr milliseconds kForTheAnswer{500};

struct ConnectionEnded {};

}  // namespace

RendezvousClient::RendezvousClient(const RendezvousPlace& place, const Arrival& own, Time deadline)
    : place_(place), rank_(own.rank), in_(kMaxReplyBytes) {
  const double seconds = own.timeout_ms / 1000.0;
  const std::vector<SocketAddress> addresses = resolve_addresses(place, deadline);
  int last_error = 0;
  // Rank 0 may start later than this rank, and have several addresses: all are tried until the deadline.
  for (int tries = 0;; ++tries) {
    for (const SocketAddress& address : addresses) {
      const Time give_up = std::min(deadline, std::chrono::steady_clock::now() + kForOneAddress);
      last_error = connect_to(address, give_up, fd_);
      if (last_error == 0 && introduce(own, deadline)) {
        if (receive(deadline + kForTheReason).kind == RendezvousKind::kEveryone) return;
        fail_without_rank_0("broke the protocol");
      }
    }
    if (last_error == EMFILE || last_error == ENFILE)
      throw UsageError(fmt::format("rendezvous: rank {}: {}", rank_, describe_error(last_error)));
    if (std::chrono::steady_clock::now() >= deadline) break;
    // Fast at first, since ranks of one launch arrive together.
    std::this_thread::sleep_for(tries < 50 ? milliseconds(1) : milliseconds(10));
  }
  if (last_error == 0) {
    throw CommError(fmt::format(
        "rendezvous: rank {} expected rank 0 at {}, but the process listening there {} for {:g} s; hint: another "
        "program has the port, or rank 0 is stopped; choose another with MASTER_PORT or --master-port",
        rank_, place_.text(), found_instead_, seconds));
  }
  throw CommError(
      fmt::format("rendezvous: rank {} could not reach rank 0 at {} within {:g} s ({}); hint: "
                  "check MASTER_ADDR, MASTER_PORT and that rank 0 was started",
                  rank_, place_.text(), seconds, std::strerror(last_error)));
}

// False: the listener is not rank 0, or dropped this rank because it had sent nothing for too long.
bool RendezvousClient::introduce(const Arrival& own, Time deadline) {
  Arrival arrival = own;
  arrival.patience_ms = static_cast<int>(
      std::max<std::int64_t>(1, std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count()));
  in_ = RendezvousStream(kMaxReplyBytes);
  try {
    if (send_all(fd_.get(), to_bytes(to_message(arrival)), deadline) != 0) throw ConnectionEnded();
    const std::optional<RendezvousMessage> reply = try_to_receive(deadline);
    if (!reply) {
      if (found_instead_.empty()) found_instead_ = "sent nothing";
      return false;
    }
    if (reply->kind == RendezvousKind::kHeard) return true;
  } catch (const ConnectionEnded&) {
    found_instead_ = "kept closing the connection";
    return false;
  } catch (const WireError&) {
  }
  throw CommError(
      fmt::format("rendezvous: rank {} expected rank 0 at {}, but the process listening there answers like another "
                  "program; hint: choose another port with MASTER_PORT or --master-port",
                  rank_, place_.text()));
}

std::string RendezvousClient::exchange(const std::string& name, int index, int count, std::string items,
                                       double timeout_seconds) {
  const Time deadline = after(timeout_seconds);
  const Exchange exchange{name, index, count, static_cast<int>(timeout_seconds * 1000), std::move(items)};
  if (send(to_message(exchange), deadline) == ETIMEDOUT) fail_without_rank_0("stopped answering");
  // If sending failed, rank 0's last message explains it better.
  RendezvousMessage reply = receive(deadline + kForTheReason);
  if (reply.kind != RendezvousKind::kItems) fail_without_rank_0("broke the protocol");
  return std::move(reply.body);
}

void RendezvousClient::listen_until(Time time) {
  try {
    if (try_to_receive(time)) fail_without_rank_0("broke the protocol");
  } catch (const ConnectionEnded&) {
    fail_without_rank_0("ended");
  } catch (const WireError&) {
    fail_without_rank_0("broke the protocol");
  }
}

int RendezvousClient::send(const RendezvousMessage& message, Time deadline) {
  const std::lock_guard<std::mutex> lock(sending_);
  const int error = half_sent_ ? ETIMEDOUT : send_all(fd_.get(), to_bytes(message), deadline);
  half_sent_ = error == ETIMEDOUT;
  return error;
}

void RendezvousClient::pulse(const Pulse& pulse) {
  send(to_message(RendezvousKind::kPulse, pulse), std::chrono::steady_clock::now());
}

std::optional<std::string> RendezvousClient::late_rank(const Pulse& pulse) {
  const Time deadline = std::chrono::steady_clock::now() + kForTheAnswer;
  try {
    const int error = send(to_message(RendezvousKind::kWhoIsLate, pulse), deadline);
    if (error != 0 && error != ETIMEDOUT) return std::nullopt;
    const auto answer = error == 0 ? try_to_receive(deadline) : std::nullopt;
    if (answer) return answer->body;
  } catch (const ConnectionEnded&) {
    return std::nullopt;
  } catch (const WireError&) {
    return std::nullopt;
  } catch (const Error&) {  // a rank is gone, which its peers notice by themselves
    return std::nullopt;
  }
  return fmt::format("; rank 0, at {}, does not answer: it is stopped, or cut off from rank {}", place_.text(), rank_);
}

void RendezvousClient::give_up(const std::string& message) {
  const Refusal reason{static_cast<int>(ExitCode::kCommunication), message.substr(0, kMaxArrivalBytes / 2)};
  send(to_message(RendezvousKind::kGiveUp, reason), after(0.1));
}

RendezvousMessage RendezvousClient::receive(Time deadline) {
  try {
    if (auto message = try_to_receive(deadline)) return *std::move(message);
    fail_without_rank_0("stopped answering");
  } catch (const ConnectionEnded&) {
    fail_without_rank_0("ended");
  } catch (const WireError&) {
    fail_without_rank_0("broke the protocol");
  }
}

// Throws a refusal, whatever was expected.
std::optional<RendezvousMessage> RendezvousClient::try_to_receive(Time deadline) {
  while (true) {
    if (auto message = in_.next()) {
      if (message->kind == RendezvousKind::kFailed) {
        const Refusal refusal = read_refusal(*message);
        raise(static_cast<ExitCode>(refusal.exit_code), refusal.message);
      }
      return message;
    }
    if (!wait_for(fd_.get(), POLLIN, deadline)) return std::nullopt;
    char buffer[4096];
    const ssize_t num_read = ::recv(fd_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (num_read > 0) in_.append({buffer, static_cast<std::size_t>(num_read)});
    if (num_read == 0) throw ConnectionEnded();
    if (num_read < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) throw ConnectionEnded();
  }
}

void RendezvousClient::fail_without_rank_0(const std::string& what) const {
  throw CommError(fmt::format(
      "rendezvous: rank 0, at {}, {} before all ranks were connected; hint: its own message, or its launcher's, says "
      "why",
      place_.text(), what));
}

}  // namespace lab::comm
