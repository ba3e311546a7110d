#include "common/comm/rendezvous/wire.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lab::comm {
namespace {

constexpr std::string_view kMagic = "LRV\x01";  // the last byte is the version
constexpr std::size_t kHeadBytes = kMagic.size() + 1 + 4;

void put_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

std::uint32_t number_at(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return number;
}

void put(std::string& bytes, int number) {
  put_number(bytes, static_cast<std::uint32_t>(number));
}

void put(std::string& bytes, const std::string& text) {
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

class BodyReader {
 public:
  BodyReader(const RendezvousMessage& message, RendezvousKind kind) : rest_(message.body) {
    if (message.kind != kind) throw WireError("unexpected message kind");
  }

  void read(int& field) {
    const std::uint32_t number = number_at(take(4));
    if (number > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) throw WireError("a number too large");
    field = static_cast<int>(number);
  }
  void read(std::string& field) {
    int num_bytes = 0;
    read(num_bytes);
    field = take(static_cast<std::size_t>(num_bytes));
  }
  void end() const {
    if (!rest_.empty()) throw WireError("a message that is too long");
  }

 private:
  std::string_view take(std::size_t num_bytes) {
    if (num_bytes > rest_.size()) throw WireError("a message that is too short");
    const std::string_view taken = rest_.substr(0, num_bytes);
    rest_.remove_prefix(num_bytes);
    return taken;
  }

  std::string_view rest_;
};

// The fields of each body, in order.
auto list_fields(Arrival& body) {
  return std::tie(body.rank, body.size, body.timeout_ms, body.patience_ms, body.token, body.fingerprint, body.process);
}
auto list_fields(Exchange& body) {
  return std::tie(body.name, body.index, body.count, body.timeout_ms, body.items);
}
auto list_fields(Pulse& body) {
  return std::tie(body.waits_for, body.doing);
}
auto list_fields(Refusal& body) {
  return std::tie(body.exit_code, body.message);
}

template <typename Body>
RendezvousMessage message_with(RendezvousKind kind, Body body) {
  RendezvousMessage message{kind, ""};
  std::apply([&](const auto&... field) { (put(message.body, field), ...); }, list_fields(body));
  return message;
}

template <typename Body>
Body read_body(const RendezvousMessage& message, RendezvousKind kind) {
  Body body;
  BodyReader reader(message, kind);
  std::apply([&](auto&... field) { (reader.read(field), ...); }, list_fields(body));
  reader.end();
  return body;
}

}  // namespace

std::string to_bytes(const RendezvousMessage& message) {
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(message.kind));
  put(bytes, message.body);
  return bytes;
}

RendezvousMessage to_message(const Arrival& arrival) {
  return message_with(RendezvousKind::kArrive, arrival);
}

RendezvousMessage to_message(const Exchange& exchange) {
  return message_with(RendezvousKind::kExchange, exchange);
}

RendezvousMessage to_message(RendezvousKind kind, const Refusal& refusal) {
  return message_with(kind, refusal);
}

RendezvousMessage to_message(RendezvousKind kind, const Pulse& pulse) {
  return message_with(kind, pulse);
}

Arrival read_arrival(const RendezvousMessage& message) {
  return read_body<Arrival>(message, RendezvousKind::kArrive);
}

Exchange read_exchange(const RendezvousMessage& message) {
  const Exchange exchange = read_body<Exchange>(message, RendezvousKind::kExchange);
  const auto count = static_cast<std::size_t>(exchange.count);
  if (exchange.index >= exchange.count || exchange.items.size() % count != 0) throw WireError("an invalid exchange");
  return exchange;
}

Refusal read_refusal(const RendezvousMessage& message) {
  return read_body<Refusal>(message, message.kind);
}

Pulse read_pulse(const RendezvousMessage& message) {
  return read_body<Pulse>(message, message.kind);
}

std::optional<RendezvousMessage> RendezvousStream::next() {
  const std::size_t num_compared = std::min(bytes_.size(), kMagic.size());
  if (bytes_.compare(0, num_compared, kMagic, 0, num_compared) != 0) throw WireError("not a message of a rank");
  if (bytes_.size() < kHeadBytes) return std::nullopt;
  const std::size_t num_body_bytes = number_at(std::string_view(bytes_).substr(kHeadBytes - 4));
  if (num_body_bytes > max_body_bytes_) throw WireError("a message that is too long");
  if (bytes_.size() < kHeadBytes + num_body_bytes) return std::nullopt;
  RendezvousMessage message{static_cast<RendezvousKind>(bytes_[kMagic.size()]),
                            bytes_.substr(kHeadBytes, num_body_bytes)};
  bytes_.erase(0, kHeadBytes + num_body_bytes);
  return message;
}

}  // namespace lab::comm
