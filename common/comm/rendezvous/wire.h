#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

// What ranks and the rendezvous send to each other, as bytes of a stream: "LRV", version, kind, length of the body,
// body. Numbers are 32 bits, little-endian; a text is its length and its bytes. No sockets here.
namespace lab::comm {

enum class RendezvousKind : std::uint8_t {
  kArrive = 1,  ///< from a rank: Arrival, its first message
  kExchange,    ///< from a rank: Exchange
  kGiveUp,      ///< from a rank: Refusal, why it stops
  kPulse,       ///< from a rank: Pulse, a few times a second
  kWhoIsLate,   ///< from a rank that has waited in vain: Pulse
  kHeard = 65,  ///< to a rank: its arrival was received, others are awaited
  kEveryone,    ///< to a rank: every rank has arrived
  kItems,       ///< to a rank: what the others left for it
  kFailed,      ///< to a rank: Refusal, why there is no world
  kLate,        ///< to a rank, the answer to kWhoIsLate: a text
};

struct RendezvousMessage {
  RendezvousKind kind;
  std::string body;
};

/// A rank introduces itself.
struct Arrival {
  int rank = 0;
  int size = 1;
  int timeout_ms = 0;       ///< of the rendezvous
  int patience_ms = 0;      ///< how much of it is left; set by RendezvousClient
  std::string token;        ///< equal on all ranks of a job
  std::string fingerprint;  ///< see fingerprint.h
  std::string process;      ///< "process 4711 on node3": tells two with the same rank apart
};

/// A member of a group leaves one item for each member, all of the same length, and receives what they left for it.
struct Exchange {
  std::string name;  ///< of the group; the same on all members
  int index = 0;     ///< this member's
  int count = 1;     ///< members
  int timeout_ms = 0;
  std::string items;
};

/// What a rank is doing.
struct Pulse {
  int waits_for = 0;  ///< a rank; its own number if for none in particular
  std::string doing;  ///< "waits to receive 4 B from rank 1 (a.cpp:41)", "computes"
};

struct Refusal {
  int exit_code = 0;  ///< of ExitCode
  std::string message;
};

/// Bytes that no rank of this suite sends.
struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string to_bytes(const RendezvousMessage& message);

RendezvousMessage to_message(const Arrival& arrival);
RendezvousMessage to_message(const Exchange& exchange);
RendezvousMessage to_message(RendezvousKind kind, const Refusal& refusal);
RendezvousMessage to_message(RendezvousKind kind, const Pulse& pulse);

// Errors of all: WireError.
Arrival read_arrival(const RendezvousMessage& message);
Exchange read_exchange(const RendezvousMessage& message);
Refusal read_refusal(const RendezvousMessage& message);
Pulse read_pulse(const RendezvousMessage& message);

/// Splits a stream into messages. Garbage is detected at the first wrong byte of a header.
class RendezvousStream {
 public:
  /// Longer bodies are garbage: nothing is allocated just because a header asks for it.
  explicit RendezvousStream(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  void allow(std::size_t max_body_bytes) { max_body_bytes_ = max_body_bytes; }
  void append(std::string_view bytes) { bytes_.append(bytes); }

  /// The next complete message, if there is one. Errors: WireError.
  std::optional<RendezvousMessage> next();

 private:
  std::size_t max_body_bytes_;
  std::string bytes_;
};

// Limits on bodies. A mesh of 4,096 ranks needs 4,096 addresses of under 200 bytes.
inline constexpr std::size_t kMaxArrivalBytes = 16 << 10;
inline constexpr std::size_t kMaxExchangeBytes = 1 << 20;

}  // namespace lab::comm
