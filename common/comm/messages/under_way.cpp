#include "common/comm/messages/under_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/base/errors.h"

namespace lab::comm {
namespace {

std::string name_of(const Message& message) {
  const bool sends = message.direction == Direction::kSend;
  return fmt::format("{} {} rank {} ({})", sends ? "isend" : "irecv", sends ? "to" : "from", message.peer,
                     message.where.text());
}

/// A checksum at the speed of memory: a change of any bytes changes it, but for a chance of 2^-64.
std::uint64_t checksum_of_bytes(const char* bytes, std::uint64_t num_bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kLanes = 4, kStride = kLanes * sizeof(std::uint64_t);
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto mix = [&](std::uint64_t lane, std::uint64_t word) { lanes[lane] = (lanes[lane] ^ word) * kOdd; };
  std::uint64_t at = 0;
  for (; at + kStride <= num_bytes; at += kStride) {
    std::uint64_t words[kLanes];
    std::memcpy(words, bytes + at, kStride);
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) mix(lane, words[lane]);
  }
  for (; at < num_bytes; ++at) mix(at % kLanes, static_cast<unsigned char>(bytes[at]));
  std::uint64_t sum = num_bytes;
  for (const std::uint64_t lane : lanes) sum = (sum ^ lane ^ (lane >> 32)) * kOdd;
  return sum;
}

}  // namespace

UnderWay::Bytes UnderWay::bytes_of(const Message& message) {
  if (message.tensor.is_meta() || message.num_bytes() == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(message.tensor.data_ptr());
  return {begin, begin + message.num_bytes()};
}

std::uint64_t UnderWay::checksum_of(const Bytes& bytes) {
  return checksum_of_bytes(reinterpret_cast<const char*>(bytes.begin), bytes.end - bytes.begin);
}

const UnderWay::Entry* UnderWay::overlapping(const ByBegin& some, std::uint64_t longest, const Bytes& bytes) {
  const std::uintptr_t earliest = bytes.begin - std::min<std::uintptr_t>(bytes.begin, longest);
  for (auto one = some.lower_bound(earliest); one != some.end() && one->first < bytes.end; ++one) {
    if (one->second->bytes.end > bytes.begin) return one->second;
  }
  return nullptr;
}

void UnderWay::require_apart(const Message& message, int rank) const {
  const Bytes bytes = bytes_of(message);
  if (bytes.begin == bytes.end) return;
  const Entry* other = overlapping(receives_, longest_, bytes);
  if (other == nullptr && message.direction == Direction::kRecv) other = overlapping(sends_, longest_, bytes);
  if (other == nullptr) return;
  throw ContractError(
      fmt::format("rank {}: the tensor of its {} shares memory with that of its {}, which it has not waited for; hint: "
                  "wait() first, or use another tensor",
                  rank, name_of(message), name_of(*other->message)));
}

UnderWay::Place UnderWay::add(const Message& message, Watch watch) {
  const Place place = entries_.insert(entries_.end(), {&message, {}, false, 0});
  if (watch != Watch::kListed) place->bytes = bytes_of(message);
  const Bytes& bytes = place->bytes;
  if (bytes.begin == bytes.end) return place;
  longest_ = std::max<std::uint64_t>(longest_, bytes.end - bytes.begin);
  const bool sends = message.direction == Direction::kSend;
  (sends ? sends_ : receives_).emplace(bytes.begin, &*place);
  place->is_summed = sends && watch == Watch::kBytes;
  if (place->is_summed) place->checksum = checksum_of(bytes);
  return place;
}

bool UnderWay::ended(std::optional<Place>& place) {
  if (!place) return false;
  const Entry& entry = **place;
  const bool changed = entry.is_summed && entry.checksum != checksum_of(entry.bytes);
  if (entry.bytes.begin != entry.bytes.end) {
    ByBegin& some = entry.message->direction == Direction::kSend ? sends_ : receives_;
    const auto [first, last] = some.equal_range(entry.bytes.begin);
    some.erase(std::find_if(first, last, [&](const auto& one) { return one.second == &entry; }));
  }
  entries_.erase(*place);
  place.reset();
  return changed;
}

std::string UnderWay::first() const {
  return entries_.empty() ? "" : name_of(*entries_.front().message);
}

}  // namespace lab::comm
