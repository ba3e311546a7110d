#include "common/comm/rendezvous/wire.h"

#include <algorithm>
#include <limits>

namespace lab {
namespace {

constexpr std::string_view kMagic = "LRV\x01";  // the last byte is the version
constexpr std::size_t kHeadBytes = kMagic.size() + 1 + 4;

void put_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

void put_text(std::string& bytes, const std::string& text) {
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

std::uint32_t number_at(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return number;
}

class BodyReader {
 public:
  BodyReader(const RendezvousMessage& message, RendezvousKind kind) : rest_(message.body) {
    if (message.kind != kind) throw WireError("unexpected message kind");
  }

  int number() {
    const std::uint32_t number = number_at(take(4));
    if (number > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) throw WireError("a number too large");
    return static_cast<int>(number);
  }
  std::string text() { return std::string(take(static_cast<std::size_t>(number()))); }
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

}  // namespace

std::string to_bytes(const RendezvousMessage& message) {
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(message.kind));
  put_text(bytes, message.body);
  return bytes;
}

RendezvousMessage to_message(const Arrival& arrival) {
  RendezvousMessage message{RendezvousKind::kArrive, ""};
  for (const int number : {arrival.rank, arrival.size, arrival.timeout_ms, arrival.patience_ms})
    put_number(message.body, static_cast<std::uint32_t>(number));
  for (const std::string* text : {&arrival.token, &arrival.fingerprint, &arrival.process})
    put_text(message.body, *text);
  return message;
}

RendezvousMessage to_message(const Exchange& exchange) {
  RendezvousMessage message{RendezvousKind::kExchange, ""};
  put_text(message.body, exchange.name);
  for (const int number : {exchange.index, exchange.count, exchange.timeout_ms})
    put_number(message.body, static_cast<std::uint32_t>(number));
  put_text(message.body, exchange.items);
  return message;
}

RendezvousMessage to_message(RendezvousKind kind, const Refusal& refusal) {
  RendezvousMessage message{kind, ""};
  put_number(message.body, static_cast<std::uint32_t>(refusal.exit_code));
  put_text(message.body, refusal.message);
  return message;
}

Arrival read_arrival(const RendezvousMessage& message) {
  BodyReader body(message, RendezvousKind::kArrive);
  Arrival arrival;
  arrival.rank = body.number();
  arrival.size = body.number();
  arrival.timeout_ms = body.number();
  arrival.patience_ms = body.number();
  arrival.token = body.text();
  arrival.fingerprint = body.text();
  arrival.process = body.text();
  body.end();
  return arrival;
}

Exchange read_exchange(const RendezvousMessage& message) {
  BodyReader body(message, RendezvousKind::kExchange);
  Exchange exchange;
  exchange.name = body.text();
  exchange.index = body.number();
  exchange.count = body.number();
  exchange.timeout_ms = body.number();
  exchange.items = body.text();
  body.end();
  const auto count = static_cast<std::size_t>(exchange.count);
  if (exchange.index >= exchange.count || exchange.items.size() % count != 0) throw WireError("an invalid exchange");
  return exchange;
}

Refusal read_refusal(const RendezvousMessage& message) {
  BodyReader body(message, message.kind);
  Refusal refusal;
  refusal.exit_code = body.number();
  refusal.message = body.text();
  body.end();
  return refusal;
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

}  // namespace lab
