#include "common/comm/messages/ledger.h"

#include <algorithm>
#include <utility>

namespace lab::comm {
namespace {

int ceil_log2(int size) {
  int steps = 0;
  for (int reach = 1; reach < size; reach *= 2) ++steps;
  return steps;
}

}  // namespace

LedgerEntry& Ledger::entry(const std::string& operation) {
  for (LedgerEntry& known : entries_) {
    if (known.operation == operation) return known;
  }
  const auto comes_later = [&](const LedgerEntry& known) { return known.operation > operation; };
  LedgerEntry none;
  none.operation = operation;
  return *entries_.insert(std::find_if(entries_.begin(), entries_.end(), comes_later), std::move(none));
}

void Ledger::add(const LedgerEntry& cost) {
  entry(cost.operation) += cost;
}

void Ledger::add_message(const std::string& operation, bool sends, int peer, std::uint64_t bytes) {
  LedgerEntry& cost = entry(operation);
  ++cost.calls;
  cost.messages += sends ? 1 : 0;
  (sends ? cost.bytes_sent : cost.bytes_received) += bytes;
  (sends ? cost.destinations : cost.sources).add(peer);
}

void Ledger::add(const Ledger& other) {
  for (const LedgerEntry& cost : other.entries_) add(cost);
}

LedgerEntry Ledger::of(const std::string& operation) const {
  for (const LedgerEntry& known : entries_) {
    if (known.operation == operation) return known;
  }
  LedgerEntry none;
  none.operation = operation;
  return none;
}

LedgerEntry Ledger::total() const {
  LedgerEntry sum;
  sum.operation = "total";
  for (const LedgerEntry& cost : entries_) sum += cost;
  return sum;
}

LedgerEntry nominal_cost(const std::string& operation, int size, std::int64_t bytes, bool is_source) {
  LedgerEntry cost;
  cost.operation = operation;
  cost.calls = 1;
  if (size == 1) return cost;
  const auto num_bytes = static_cast<std::uint64_t>(bytes);
  const auto num_ranks = static_cast<std::uint64_t>(size);
  if (operation == "barrier") {
    cost.rounds = static_cast<std::uint64_t>(ceil_log2(size));
  } else if (operation == "broadcast") {
    cost.rounds = static_cast<std::uint64_t>(ceil_log2(size));
    (is_source ? cost.bytes_sent : cost.bytes_received) = num_bytes;
  } else {
    const std::uint64_t passes = operation == "all_reduce" ? 2 : 1;
    cost.rounds = passes * (num_ranks - 1);
    cost.bytes_sent = cost.bytes_received = passes * num_bytes * (num_ranks - 1) / num_ranks;
  }
  return cost;
}

LedgerEntry exchange_cost(int size, std::uint64_t bytes_sent, std::uint64_t bytes_received) {
  LedgerEntry cost;
  cost.operation = "all_to_all";
  cost.calls = 1;
  cost.bytes_sent = bytes_sent;
  cost.bytes_received = bytes_received;
  cost.rounds = static_cast<std::uint64_t>(size) - 1;
  return cost;
}

}  // namespace lab::comm
