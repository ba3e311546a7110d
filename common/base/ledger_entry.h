#pragma once

#include <cstdint>
#include <string>

#include "common/base/rank_set.h"

namespace lab {

/// What one rank spent on one operation ("send", "all_reduce"): filled by the communication layer, carried by reports.
struct LedgerEntry {
  std::string operation;
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;  ///< messages sent
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t rounds = 0;                 ///< steps that depend on each other
  RankSet destinations = {}, sources = {};  ///< of its messages: world ranks

  /// Adds the other's counts.
  LedgerEntry& operator+=(const LedgerEntry& other) {
    calls += other.calls;
    messages += other.messages;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    rounds += other.rounds;
    destinations |= other.destinations;
    sources |= other.sources;
    return *this;
  }
};

}  // namespace lab
