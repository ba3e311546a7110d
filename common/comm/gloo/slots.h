#pragma once

#include <cstdint>

#include "common/comm/process/frame.h"

// On which of Gloo's slots the parts of a message travel. Internal to comm/gloo.
namespace lab::comm {

/// Longest payload that travels inside the frame; a longer one follows on its own slot.
constexpr std::uint64_t kInlineBytes = 16384;
constexpr std::uint64_t kFrameBytes = sizeof(FrameHeader) + kInlineBytes;

/// The slot of the frames of one channel: Gloo keeps the order of messages within it.
std::uint64_t frame_slot(std::uint32_t group, int tag);

/// The slot of one long payload. Its contract is part of it, so that unequal contracts never match: Gloo would abort
/// the receiver on a payload that is too long, and silently deliver a shorter one.
std::uint64_t payload_slot(const Message& message, std::uint64_t sequence);

/// The slot of the acknowledgement of a channel's n-th message.
std::uint64_t acknowledgement_slot(const Message& message, std::uint64_t sequence);

/// Where the sentinels' records travel.
constexpr std::uint64_t kSentinelSlot = std::uint64_t{0x4F} << 56;
constexpr std::uint64_t kProbeSlot = std::uint64_t{0x4E} << 56;

}  // namespace lab::comm
