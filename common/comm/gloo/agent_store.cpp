#include "common/comm/gloo/agent_store.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/rendezvous/socket.h"

namespace lab::comm {
namespace {

using Deadline = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

/// c10d logs every failed attempt; this suite's one error message is enough.
void silence_c10d() {
  FLAGS_caffe2_log_level = 3;  // fatal
  c10::UpdateLoggingLevelsFromFlags();
}

/// Calls `use` with the store, on a thread that may be left running.
template <typename Use>
auto with_store(const RendezvousPoint& point, Deadline deadline, Use use) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(point.port);
  options.isServer = false;
  options.waitWorkers = false;
  // c10d rounds down to seconds, and 0 s never succeeds; the deadline is enforced outside c10d.
  options.timeout =
      std::chrono::ceil<std::chrono::seconds>(deadline - std::chrono::steady_clock::now()) + std::chrono::seconds(1);
  without_libuv(options, 0);
  silence_c10d();
  std::string reason = "did not answer in time";
  try {
    auto result = finish_by(deadline, [host = point.host, options, use] {
      c10d::TCPStore store(host, options);
      return use(store);
    });
    if (result) return *std::move(result);
  } catch (const std::exception& failure) {
    reason = std::string("failed: ") + failure.what();
    reason = reason.substr(0, reason.find('\n'));
  }
  throw CommError(fmt::format("rendezvous: torchrun's store at {}:{} {}; hint: check that torchrun still runs there",
                              point.host, point.port, reason));
}

/// Restarted ranks find entries of earlier attempts, so each attempt has its own key.
std::string make_key(const RendezvousPoint& point) {
  return fmt::format("lab/attempt_{}/rendezvous", point.attempt);
}

}  // namespace

void leave_ticket(const RendezvousPoint& point, const RendezvousTicket& ticket, Deadline deadline) {
  const std::string text = fmt::format("{} {} {}", ticket.place.host, ticket.place.port, ticket.token);
  with_store(point, deadline, [text, key = make_key(point)](c10d::TCPStore& store) {
    store.set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
    return store.check({key});  // set() alone does not wait for an answer
  });
}

RendezvousTicket await_ticket(const RendezvousPoint& point, Deadline deadline) {
  const auto found = with_store(
      point, deadline, [key = make_key(point), deadline](c10d::TCPStore& store) -> std::optional<RendezvousTicket> {
        while (!store.check({key})) {
          // A little early: this answer must arrive before the thread is abandoned.
          if (std::chrono::steady_clock::now() + milliseconds(50) > deadline) return std::nullopt;
          std::this_thread::sleep_for(milliseconds(10));
        }
        const std::vector<std::uint8_t> value = store.get(key);
        std::istringstream text(std::string(value.begin(), value.end()));
        RendezvousTicket ticket;
        text >> ticket.place.host >> ticket.place.port >> ticket.token;
        return ticket;
      });
  if (found) return *found;
  throw CommError(
      "rendezvous: rank 0 did not arrive in time: it left no address in torchrun's store; hint: give more time with "
      "--timeout");
}

}  // namespace lab::comm
