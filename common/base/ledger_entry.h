#pragma once

#include <cstdint>
#include <string>

namespace lab {

/// What one rank spent on one operation ("send", "all_reduce"): filled by the communication layer, carried by reports.
struct LedgerEntry {
  std::string operation;
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;  ///< messages sent
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t rounds = 0;  ///< steps that depend on each other

  /// Adds the other's counts.
  LedgerEntry& operator+=(const LedgerEntry& other) {
    calls += other.calls;
    messages += other.messages;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    rounds += other.rounds;
    return *this;
  }
};

}  // namespace lab
