#include "common/comm/relay/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/api/errors.h"

namespace lab::comm {

constexpr std::size_t kMaxDimensions = 64;  // LibTorch's own limit

std::uint64_t count_payload_bytes(int dtype, const std::vector<std::int64_t>& sizes) {
  if (dtype < 0 || dtype >= static_cast<int>(at::ScalarType::Undefined))
    throw ContractError(fmt::format("dtype {}", dtype));
  if (sizes.size() > kMaxDimensions) throw ContractError(fmt::format("{} dimensions", sizes.size()));
  std::uint64_t num_bytes = c10::elementSize(static_cast<at::ScalarType>(dtype));
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(num_bytes, static_cast<std::uint64_t>(size), &num_bytes))
      throw ContractError("a size that no tensor has");
  }
  return num_bytes;
}

at::Tensor payload_tensor(int dtype, const std::vector<std::int64_t>& sizes, std::string payload) {
  const std::uint64_t num_bytes = count_payload_bytes(dtype, sizes);
  if (payload.size() != num_bytes)
    throw ContractError(fmt::format("a payload of {} B for a tensor of {} B", payload.size(), num_bytes));
  const auto kept = std::make_shared<std::string>(std::move(payload));
  return at::from_blob(
      kept->data(), sizes, [kept](void*) {}, at::TensorOptions(static_cast<at::ScalarType>(dtype)));
}

at::Tensor tensor_of_bytes(std::string bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  return payload_tensor(static_cast<int>(at::kByte), {count}, std::move(bytes));
}

namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::uint32_t kMaxFrameBytes = 64 << 10;

// The fields of a frame, in order. Both ends are on one machine, so numbers are sent as they are in memory.
template <typename Frame>
auto list_fields(Frame& frame) {
  return std::tie(frame.kind, frame.id, frame.channel.direction, frame.channel.peer, frame.channel.group,
                  frame.channel.tag, frame.members, frame.operation, frame.file, frame.line, frame.dtype, frame.sizes,
                  frame.contract_only, frame.payload_later, frame.step, frame.flops, frame.model_time, frame.seconds,
                  frame.exit_code, frame.text, frame.payload_bytes);
}

/// Appends fields to bytes.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& bytes) : bytes_(bytes) {}

  template <typename Number>
  std::enable_if_t<std::is_arithmetic_v<Number> || std::is_enum_v<Number>> put(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  template <typename List>
  auto put(const List& list) -> decltype(list.data(), void()) {
    put(static_cast<std::uint32_t>(list.size()));
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(typename List::value_type));
  }

 private:
  std::string& bytes_;
};

/// Takes fields from bytes that untrusted code may have written.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  void take(bool& field) { field = number<std::uint8_t>() != 0; }
  void take(RelayFrame::Kind& field) {
    const auto kind = number<std::uint8_t>();
    if (kind > static_cast<std::uint8_t>(RelayFrame::Kind::kError)) throw ContractError("a frame of an unknown kind");
    field = static_cast<RelayFrame::Kind>(kind);
  }
  void take(Direction& field) { field = number<std::uint8_t>() == 0 ? Direction::kSend : Direction::kRecv; }
  template <typename Number>
  std::enable_if_t<std::is_arithmetic_v<Number>> take(Number& field) {
    field = number<Number>();
  }
  template <typename List>
  auto take(List& list) -> decltype(list.data(), void()) {
    constexpr std::size_t kItemBytes = sizeof(typename List::value_type);
    const auto count = number<std::uint32_t>();
    if (count > rest_.size() / kItemBytes) throw ContractError("a frame that cannot be read: it is too short");
    list.resize(count);
    if (count > 0) std::memcpy(list.data(), rest_.data(), count * kItemBytes);
    rest_.remove_prefix(count * kItemBytes);
  }
  void end() const {
    if (!rest_.empty()) throw ContractError("a frame that cannot be read: it is too long");
  }

 private:
  template <typename Number>
  Number number() {
    if (rest_.size() < sizeof(Number)) throw ContractError("a frame that cannot be read: it is too short");
    Number taken;
    std::memcpy(&taken, rest_.data(), sizeof taken);
    rest_.remove_prefix(sizeof taken);
    return taken;
  }

  std::string_view rest_;
};

RelayFrame make_frame(std::string_view bytes) {
  RelayFrame frame;
  FieldReader reader(bytes);
  std::apply([&](auto&... field) { (reader.take(field), ...); }, list_fields(frame));
  reader.end();
  return frame;
}

}  // namespace

std::string to_bytes(const RelayFrame& frame) {
  std::string bytes(kLengthBytes, '\0');
  FieldWriter writer(bytes);
  std::apply([&](const auto&... field) { (writer.put(field), ...); }, list_fields(frame));
  const auto length = static_cast<std::uint32_t>(bytes.size() - kLengthBytes);
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes;
}

void RelayFrameReader::add(const char* bytes, std::size_t count) {
  buffer_.erase(0, num_taken_);
  num_taken_ = 0;
  const std::size_t of_payload = frame_ ? std::min<std::size_t>(frame_->payload_bytes - payload_.size(), count) : 0;
  payload_.append(bytes, of_payload);
  buffer_.append(bytes + of_payload, count - of_payload);
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
    frame_ = make_frame(std::string_view(buffer_).substr(num_taken_ + kLengthBytes, length));
    if (frame_->payload_bytes > max_payload_bytes_)
      throw ContractError(
          fmt::format("a payload of {} B; expected at most {}", frame_->payload_bytes, max_payload_bytes_));
    num_taken_ += kLengthBytes + length;
    payload_.reserve(frame_->payload_bytes);
    payload_.assign(buffer_, num_taken_, frame_->payload_bytes);
    num_taken_ += payload_.size();
  }
  if (payload_.size() < frame_->payload_bytes) return std::nullopt;
  Received received{std::move(*frame_), std::exchange(payload_, std::string())};
  frame_.reset();
  return received;
}

}  // namespace lab::comm
