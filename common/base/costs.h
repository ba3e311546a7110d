#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lab {

/// Where one rank's model time went, in picoseconds: kept by the communication layer (comm/model_time.md), carried by
/// reports. total = work + waiting + overhead.
struct ModelTime {
  std::int64_t total = 0;
  std::int64_t work = 0;      ///< floating-point operations
  std::int64_t waiting = 0;   ///< for messages to arrive; in built-in collectives, for the other members and the data
  std::int64_t overhead = 0;  ///< of posting sends and taking receives
};

inline bool operator==(const ModelTime& a, const ModelTime& b) {
  return a.total == b.total && a.work == b.work && a.waiting == b.waiting && a.overhead == b.overhead;
}

/// What tensors that were made meanwhile took, by the memory meter.
struct MemoryUse {
  std::int64_t peak_bytes = 0;
  std::int64_t retained_bytes = 0;  ///< still held; of a call: although nothing refers to its results any more
};

/// What a call used, as counted on its rank.
struct ResourceUse {
  std::int64_t flops = 0;  ///< floating-point operations, by the work meter
  MemoryUse memory;
  ModelTime model_time;  ///< of the call, by the rank's clock; where a relay keeps the clocks, by that
};

/// What a process was seen to use meanwhile, by the kernel's count: whatever it says itself.
struct SeenUse {
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;  ///< resident, beyond what it held before its first case and what earlier ones reached
};

/// A set of ranks: one bit each, since every message adds to one.
class RankSet {
 public:
  void add(int rank) {
    const auto word = static_cast<std::size_t>(rank) / kBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << static_cast<std::size_t>(rank) % kBits;
  }
  RankSet& operator|=(const RankSet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (std::size_t word = 0; word < other.words_.size(); ++word) words_[word] |= other.words_[word];
    return *this;
  }

  /// In ascending order.
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < words_.size() * kBits; ++rank) {
      if ((words_[rank / kBits] >> rank % kBits & 1) != 0) all.push_back(static_cast<int>(rank));
    }
    return all;
  }
  std::size_t size() const { return ranks().size(); }

  friend bool operator==(const RankSet& a, const RankSet& b) { return a.ranks() == b.ranks(); }
  friend bool operator!=(const RankSet& a, const RankSet& b) { return !(a == b); }

 private:
  static constexpr std::size_t kBits = 64;

  std::vector<std::uint64_t> words_;
};

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

/// What a case cost, or may cost, the rank that has most of each.
struct CaseFigures {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  std::int64_t model_time_ps = kAny;
  std::int64_t bytes_sent = kAny;
  std::int64_t peak_bytes = kAny;  ///< of tensors that the call made
  std::int64_t flops = kAny;       ///< floating-point operations

  /// Nothing.
  static CaseFigures zero() { return {0, 0, 0, 0}; }
};

}  // namespace lab
