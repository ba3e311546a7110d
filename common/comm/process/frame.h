#pragma once

#include <cstdint>

#include "common/comm/messages/message.h"

// What travels in front of every payload between two processes. Internal to comm.
namespace lab::comm {

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

/// Errors    ContractError: more than 8 dimensions
FrameHeader make_header(const Message& message);

/// The same for a message that is received, which needs no header.
void require_few_dims(const Message& message);

/// Whether operation, dtype and shape are what this rank expects: fast, since it runs for every message.
bool same_contract(const FrameHeader& header, const Message& expected);

/// What the sender said about its message.
Contract read_contract(const FrameHeader& header);

/// Errors    ContractError: they are not the same; with both ranks, both contracts and both lines
void require_same_contract(const FrameHeader& header, const Message& expected, int rank);

/// Whether the receiver tells the sender when it posted its receive, in model time. Both ends know it: messages that
/// are parts of collectives have channels of their own.
bool is_acknowledged(const Message& message);

}  // namespace lab::comm
