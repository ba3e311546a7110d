#include "common/comm/relay/frame.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"

namespace lab::comm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::uint32_t kMaxFrameBytes = 64 << 10;

RelayFrame frame_of(const Json& fields) {
  RelayFrame frame;
  std::size_t next = 0;
  const auto take = [&](auto& value) { fields.at(next++).get_to(value); };
  int kind = 0, direction = 0;
  take(kind);
  take(frame.id);
  take(direction);
  take(frame.channel.peer);
  take(frame.channel.group);
  take(frame.channel.tag);
  take(frame.members);
  take(frame.operation);
  take(frame.file);
  take(frame.line);
  take(frame.dtype);
  take(frame.sizes);
  take(frame.contract_only);
  take(frame.payload_later);
  take(frame.step);
  take(frame.flops);
  take(frame.model_time);
  take(frame.seconds);
  take(frame.exit_code);
  take(frame.text);
  take(frame.payload_bytes);
  if (kind < 0 || kind > static_cast<int>(RelayFrame::Kind::kError)) throw ContractError("an unknown kind");
  frame.kind = static_cast<RelayFrame::Kind>(kind);
  frame.channel.direction = direction == 0 ? Direction::kSend : Direction::kRecv;
  return frame;
}

}  // namespace

std::string to_bytes(const RelayFrame& frame) {
  const Json fields = {static_cast<int>(frame.kind),
                       frame.id,
                       frame.channel.direction == Direction::kSend ? 0 : 1,
                       frame.channel.peer,
                       frame.channel.group,
                       frame.channel.tag,
                       frame.members,
                       frame.operation,
                       frame.file,
                       frame.line,
                       frame.dtype,
                       frame.sizes,
                       frame.contract_only,
                       frame.payload_later,
                       frame.step,
                       frame.flops,
                       frame.model_time,
                       frame.seconds,
                       frame.exit_code,
                       frame.text,
                       frame.payload_bytes};
  std::string bytes(kLengthBytes, '\0');
  Json::to_cbor(fields, bytes);
  const auto length = static_cast<std::uint32_t>(bytes.size() - kLengthBytes);
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes;
}

void RelayFrameReader::add(const char* bytes, std::size_t count) {
  buffer_.erase(0, num_taken_);
  num_taken_ = 0;
  buffer_.append(bytes, count);
}

std::optional<RelayFrameReader::Received> RelayFrameReader::next() {
  if (!frame_) {
    const std::size_t arrived = buffer_.size() - num_taken_;
    if (arrived < kLengthBytes) return std::nullopt;
    std::uint32_t length = 0;
    std::memcpy(&length, buffer_.data() + num_taken_, kLengthBytes);
    if (length > kMaxFrameBytes)
      throw ContractError(fmt::format("a frame of {} B; expected at most {}", length, kMaxFrameBytes));
    if (arrived < kLengthBytes + length) return std::nullopt;
    const char* const begin = buffer_.data() + num_taken_ + kLengthBytes;
    try {
      frame_ = frame_of(Json::from_cbor(begin, begin + length));
    } catch (const Json::exception& error) {
      throw ContractError(fmt::format("a frame that cannot be read: {}", error.what()));
    }
    if (frame_->payload_bytes > max_payload_bytes_)
      throw ContractError(
          fmt::format("a payload of {} B; expected at most {}", frame_->payload_bytes, max_payload_bytes_));
    num_taken_ += kLengthBytes + length;
  }
  if (buffer_.size() - num_taken_ < frame_->payload_bytes) return std::nullopt;
  Received received{std::move(*frame_), buffer_.substr(num_taken_, frame_->payload_bytes)};
  num_taken_ += received.frame.payload_bytes;
  frame_.reset();
  return received;
}

}  // namespace lab::comm
