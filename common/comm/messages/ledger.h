#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/costs.h"

namespace lab::comm {

/// Always-on count of one rank's communication, by operation.
///
/// Point-to-point messages are counted one by one under "message". A built-in collective is counted under its name with
/// the cost of the bandwidth-optimal algorithm in every world, whatever the library moves internally.
class Ledger {
 public:
  /// Adds to the entry of cost.operation.
  void add(const LedgerEntry& cost);
  /// Counts one end of a message with that rank.
  void add_message(const std::string& operation, bool sends, int peer, std::uint64_t bytes);
  /// Adds all of the other's entries.
  void add(const Ledger& other);
  LedgerEntry of(const std::string& operation) const;
  LedgerEntry total() const;
  const std::vector<LedgerEntry>& entries() const { return entries_; }
  /// Made if there is none. Valid until another one is made.
  LedgerEntry& entry(const std::string& operation);

 private:
  std::vector<LedgerEntry> entries_;  ///< few, by name
};

/// Nominal cost, on one rank of `size`, of a built-in collective on `bytes` bytes ("bytes" as nccl-tests defines them:
/// the larger of input and output on one rank): (p-1)/p n for all_gather, reduce_scatter and all_to_all, twice that for
/// all_reduce, n for broadcast (received by all but the source), 0 for barrier.
LedgerEntry nominal_cost(const std::string& operation, int size, std::int64_t bytes, bool is_source = false);

/// The cost of an all_to_all with parts of these sizes, on one rank of `size`: P-1 rounds.
LedgerEntry exchange_cost(int size, std::uint64_t bytes_sent, std::uint64_t bytes_received);

}  // namespace lab::comm
