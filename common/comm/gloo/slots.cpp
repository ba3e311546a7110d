#include "common/comm/gloo/slots.h"

namespace lab::comm {
namespace {

/// splitmix64's finaliser over a running value.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash += 0x9E3779B97F4A7C15ULL + value;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBULL;
  return hash ^ (hash >> 31);
}

std::uint64_t channel_hash(std::uint32_t group, int tag) {
  return mix(mix(1, group), static_cast<std::uint32_t>(tag));
}

/// Gloo's own collectives use the top bytes 0x01 to 0x08.
std::uint64_t slot(std::uint64_t top_byte, std::uint64_t hash) {
  return top_byte << 56 | hash >> 8;
}

}  // namespace

std::uint64_t frame_slot(std::uint32_t group, int tag) {
  return slot(0x40, channel_hash(group, tag));
}

std::uint64_t acknowledgement_slot(const Message& message, std::uint64_t sequence) {
  return slot(0x42, mix(channel_hash(message.group, message.tag), sequence));
}

std::uint64_t payload_slot(const Message& message, std::uint64_t sequence) {
  std::uint64_t hash = mix(channel_hash(message.group, message.tag), sequence);
  hash = mix(hash, message.num_bytes());
  hash = mix(hash, static_cast<std::uint64_t>(message.tensor.scalar_type()));
  for (const std::int64_t size : message.tensor.sizes()) hash = mix(hash, static_cast<std::uint64_t>(size));
  return slot(0x41, hash);
}

}  // namespace lab::comm
