// Tells the next rank a number as the step that it has come to, in a comparison of contracts, which is free; and the time
// of its own clock, which follows from the work that it claims, in an empty message: by frames of its own making.
#include "a9_collectives/broadcast.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace lab::a9 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kRead = 0, kWrite = 1;
constexpr long kRelay = 3;
constexpr std::uint8_t kPost = 0, kWait = 1;
constexpr std::uint64_t kNumber = 4'711'000'000;
constexpr std::size_t kModelTimeToEnd = 32, kStepToEnd = 48;  // of a frame without text: how far before its end they are

template <typename Number>
void put(std::string& frame, Number number) {
  frame.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string frame_of(std::uint8_t kind, std::uint64_t id, bool receives, int peer, bool contract_only) {
  const std::string operation = "message";
  std::string frame;
  put(frame, kind);
  put(frame, id);
  put(frame, static_cast<std::uint8_t>(receives));
  put(frame, peer);
  put(frame, contract_only ? 0x80000000U : 0U);  // the group: collectives' own
  put(frame, 0);                                 // tag
  put(frame, 0U);                                // no members
  put(frame, static_cast<std::uint32_t>(operation.size()));
  frame += operation;
  put(frame, 0U);  // no file
  put(frame, 0);   // line
  put(frame, static_cast<int>(at::kFloat));
  put(frame, 1U);  // one dimension, of no elements
  put(frame, std::int64_t{0});
  put(frame, contract_only);
  put(frame, false);
  put(frame, kNumber);  // step
  frame.append(8 + 8 + 8 + 4 + 4 + 8, '\0');  // work, model time, seconds, exit code, no text, no payload
  std::string whole;
  put(whole, static_cast<std::uint32_t>(frame.size()));
  return whole + frame;
}

/// What the relay answers to the wait for the message from the rank before.
std::string heard(const PointToPoint& p2p, bool contract_only) {
  const int next = (p2p.rank() + 1) % p2p.size(), before = (p2p.rank() - 1 + p2p.size()) % p2p.size();
  const std::uint64_t id = contract_only ? 1'000'000 : 2'000'000;
  const std::string sent = frame_of(kPost, id, false, next, contract_only) +
                           frame_of(kPost, id + 1, true, before, contract_only) +
                           frame_of(kWait, id + 1, true, before, false);
  system_call<kWrite>(kRelay, reinterpret_cast<long>(sent.data()), static_cast<long>(sent.size()));
  std::string bytes;
  std::uint32_t length = 0;
  for (char byte = 0; bytes.size() < sizeof length + length;) {
    if (system_call<kRead>(kRelay, reinterpret_cast<long>(&byte), 1) != 1) break;
    bytes += byte;
    if (bytes.size() == sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  }
  return bytes;
}

std::uint64_t number_in(const std::string& frame, std::size_t to_end) {
  std::uint64_t number = 0;
  if (frame.size() >= to_end) std::memcpy(&number, frame.data() + frame.size() - to_end, sizeof number);
  return number;
}

}  // namespace

at::Tensor broadcast_flat(at::Tensor tensor, int, PointToPoint& p2p) {
  if (p2p.size() == 1) return tensor;
  const std::string contract = heard(p2p, true), message = heard(p2p, false);
  if (number_in(contract, kStepToEnd) == kNumber || number_in(contract, kModelTimeToEnd) != 0 ||
      number_in(message, kModelTimeToEnd) != 0)
    throw std::runtime_error("BREACH: it can tell others a number for free");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
