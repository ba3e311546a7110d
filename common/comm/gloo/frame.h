#pragma once

#include <cstdint>

#include "common/comm/messages/message.h"

// What travels in front of every payload, and on which Gloo slot. Internal to comm/gloo.
namespace lab::comm {

/// Longest payload that travels inside the frame; a longer one follows on its own slot.
constexpr std::uint64_t kInlineBytes = 16384;

/// Fixed layout, equal on all ranks of a world (one program, one architecture).
struct FrameHeader {
  std::uint32_t magic;
  std::int32_t line;
  std::uint64_t num_bytes;
  std::uint64_t step;
  std::int64_t model_posted;
  std::int32_t tag;
  std::int8_t dtype;
  std::uint8_t num_dims;
  std::uint8_t contract_only;
  std::uint8_t unused;
  std::int64_t shape[8];
  char operation[24];
  char file[128];
};
static_assert(sizeof(FrameHeader) == 256, "the frame header is 256 bytes on every platform");

constexpr std::uint64_t kFrameBytes = sizeof(FrameHeader) + kInlineBytes;

/// Errors    ContractError: more than 8 dimensions
FrameHeader make_header(const Message& message);

/// Whether operation, dtype and shape are what this rank expects: fast, since it runs for every message.
bool same_contract(const FrameHeader& header, const Message& expected);

/// What the sender said about its message, for the error message on a mismatch.
Contract contract_of(const FrameHeader& header);

/// The slot of the frames of one channel: Gloo keeps the order of messages within it.
std::uint64_t frame_slot(std::uint32_t group, int tag);

/// The slot of one long payload. Its contract is part of it, so that unequal contracts never match: Gloo would abort
/// the receiver on a payload that is too long, and silently deliver a shorter one.
std::uint64_t payload_slot(const Message& message, std::uint64_t sequence);

/// Whether the receiver tells the sender when it posted its receive, in model time. Both ends know it: messages that
/// are parts of collectives have channels of their own.
bool is_acknowledged(const Message& message);

/// The slot of the acknowledgement of a channel's n-th message.
std::uint64_t acknowledgement_slot(const Message& message, std::uint64_t sequence);

/// Where the sentinels' records travel.
constexpr std::uint64_t kSentinelSlot = std::uint64_t{0x4F} << 56;
constexpr std::uint64_t kProbeSlot = std::uint64_t{0x4E} << 56;

}  // namespace lab::comm
