#include "common/comm/relay/gathering.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/message.h"
#include "common/comm/relay/frame.h"

namespace lab::comm {
namespace {

using Parts = std::vector<Gatherings::Part>;  // by member

constexpr std::size_t kMaxGroups = 10000;  // that a rank may belong to

void check_members(const std::vector<int>& members, int rank, int num_ranks) {
  std::vector<int> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (sorted.size() < 2 || !distinct || sorted.front() < 0 || sorted.back() >= num_ranks ||
      !std::binary_search(sorted.begin(), sorted.end(), rank))
    throw ContractError("a collective of a group that cannot be");
}

/// The tensors of an all_to_all: those that go to each member, then those that come from each.
struct AllToAllSizes {
  std::vector<std::vector<std::int64_t>> sent, received;
};

/// `sizes` has, for each of these tensors, the number of its dimensions and then their sizes.
AllToAllSizes plan_exchange(const std::vector<std::int64_t>& sizes, std::size_t num_members) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::size_t next = 0; next < sizes.size();) {
    const std::int64_t dims = sizes[next++];
    if (dims < 0 || static_cast<std::uint64_t>(dims) > sizes.size() - next) break;
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(next);
    shapes.emplace_back(begin, begin + dims);
    next += static_cast<std::size_t>(dims);
  }
  if (shapes.size() != 2 * num_members) throw ContractError("an all_to_all without a shape for each of its parts");
  const auto middle = shapes.begin() + static_cast<std::ptrdiff_t>(num_members);
  return {{shapes.begin(), middle}, {middle, shapes.end()}};
}

/// What the frame's payload must have.
std::uint64_t expected_bytes(const RelayFrame& frame, std::size_t member) {
  if (frame.operation == "barrier") return 0;
  if (frame.operation == "broadcast")
    return frame.channel.peer == static_cast<int>(member) ? count_payload_bytes(frame.dtype, frame.sizes) : 0;
  if (frame.operation != "all_to_all") return count_payload_bytes(frame.dtype, frame.sizes);
  const AllToAllSizes exchange = plan_exchange(frame.sizes, frame.members.size());
  std::uint64_t total = 0;
  // A member sends its parts to all others; its own part stays where it is.
  for (std::size_t dst = 0; dst < exchange.sent.size(); ++dst)
    total += dst == member ? 0 : count_payload_bytes(frame.dtype, exchange.sent[dst]);
  return total;
}

void check_frame(const RelayFrame& frame, std::size_t member, std::uint64_t payload_bytes) {
  const auto num_members = static_cast<std::int64_t>(frame.members.size());
  const std::string& operation = frame.operation;
  const bool known = operation == "barrier" || operation == "broadcast" || operation == "all_reduce" ||
                     operation == "all_gather" || operation == "reduce_scatter" || operation == "all_to_all";
  if (!known) throw ContractError("a collective that is none");
  if (operation == "broadcast" && (frame.channel.peer < 0 || frame.channel.peer >= num_members))
    throw ContractError("a broadcast whose source is not a member");
  if (operation == "reduce_scatter" && (frame.sizes.empty() || frame.sizes[0] != num_members))
    throw ContractError("a reduce_scatter without a chunk for each member");
  if (payload_bytes != expected_bytes(frame, member))
    throw ContractError(fmt::format("a payload of {} B for {}", payload_bytes, operation));
}

Contract read_contract(const RelayFrame& frame, const std::vector<std::int64_t>& shape) {
  return {frame.operation, static_cast<at::ScalarType>(frame.dtype), shape, 0,
          fmt::format("{}:{}", frame.file, frame.line)};
}

/// Why the members do not all do the same; empty: they do.
std::string disagreement(const std::vector<int>& ranks, const Parts& parts) {
  const RelayFrame& first = parts[0].frame;
  for (std::size_t member = 1; member < parts.size(); ++member) {
    const RelayFrame& other = parts[member].frame;
    const bool by_part = first.operation == "all_to_all" && other.operation == first.operation;
    const std::string violation =
        contract_violation(ranks[0], read_contract(first, by_part ? other.sizes : first.sizes), ranks[member],
                           read_contract(other, other.sizes));
    if (!violation.empty()) return violation;
    if (first.operation == "broadcast" && first.channel.peer != other.channel.peer)
      return fmt::format("rank {} broadcasts from {}, rank {} from {}", ranks[0], first.channel.peer, ranks[member],
                         other.channel.peer);
  }
  return "";
}

/// Sends every part on; returns why two sides of a part disagree.
std::string exchange(const std::vector<int>& ranks, const Parts& parts, std::vector<CollectiveResult>& results) {
  std::vector<AllToAllSizes> exchanges;
  std::vector<std::size_t> next(parts.size(), 0);
  for (const auto& part : parts) exchanges.push_back(plan_exchange(part.frame.sizes, parts.size()));
  for (std::size_t src = 0; src < parts.size(); ++src) {
    for (std::size_t dst = 0; dst < parts.size(); ++dst) {
      if (src == dst) continue;
      const std::vector<std::int64_t>& shape = exchanges[src].sent[dst];
      std::string violation = contract_violation(ranks[src], read_contract(parts[src].frame, shape), ranks[dst],
                                                 read_contract(parts[dst].frame, exchanges[dst].received[src]));
      if (!violation.empty()) return violation;
      const std::uint64_t count = count_payload_bytes(parts[src].frame.dtype, shape);
      results[dst].payload += parts[src].payload.substr(next[src], count);
      next[src] += count;
    }
  }
  const auto num_members = static_cast<int>(parts.size());
  for (std::size_t member = 0; member < parts.size(); ++member)
    results[member].cost = exchange_cost(num_members, next[member], results[member].payload.size());
  return "";
}

/// The bytes of the sum, added in rank order as MessageCollectives does it.
std::string compute_sum(Parts parts) {
  const RelayFrame& first = parts[0].frame;
  const at::Tensor sum = payload_tensor(first.dtype, first.sizes, std::move(parts[0].payload));
  for (std::size_t member = 1; member < parts.size(); ++member)
    sum.add_(payload_tensor(first.dtype, first.sizes, std::move(parts[member].payload)));
  return {static_cast<const char*>(sum.data_ptr()), static_cast<std::size_t>(sum.nbytes())};
}

/// All collectives but all_to_all. Returns the number of bytes from which the cost follows (nominal_cost).
std::size_t combine(const Parts& parts, std::vector<CollectiveResult>& results) {
  const std::string& operation = parts[0].frame.operation;
  if (operation == "barrier") return 0;
  const auto src = static_cast<std::size_t>(parts[0].frame.channel.peer);
  std::string whole;
  if (operation == "broadcast") {
    whole = parts[src].payload;
  } else if (operation == "all_gather") {
    for (const auto& part : parts) whole += part.payload;
  } else {
    whole = compute_sum(parts);
  }
  const std::size_t chunk = operation == "reduce_scatter" ? whole.size() / parts.size() : whole.size();
  for (std::size_t member = 0; member < parts.size(); ++member) {
    if (operation != "broadcast" || member != src)
      results[member].payload = whole.substr(operation == "reduce_scatter" ? member * chunk : 0, chunk);
  }
  return whole.size();
}

std::vector<CollectiveResult> collect_results(const std::vector<int>& ranks, const Parts& parts) {
  std::vector<CollectiveResult> results(ranks.size());
  std::string violation = disagreement(ranks, parts);
  const RelayFrame& first = parts[0].frame;
  if (violation.empty() && first.operation == "all_to_all") {
    violation = exchange(ranks, parts, results);
  } else if (violation.empty()) {
    const auto bytes = static_cast<std::int64_t>(combine(parts, results));
    for (std::size_t member = 0; member < ranks.size(); ++member)
      results[member].cost = nominal_cost(first.operation, static_cast<int>(ranks.size()), bytes,
                                          static_cast<int>(member) == first.channel.peer);
  }
  for (std::size_t member = 0; member < ranks.size(); ++member) {
    results[member].rank = ranks[member];
    results[member].violation = violation;
  }
  return results;
}

}  // namespace

std::optional<std::vector<CollectiveResult>> Gatherings::begin(int rank, int num_ranks, RelayFrame frame,
                                                               std::string payload) {
  check_members(frame.members, rank, num_ranks);
  const auto place = std::find(frame.members.begin(), frame.members.end(), rank);
  const auto member = static_cast<std::size_t>(place - frame.members.begin());
  check_frame(frame, member, payload.size());
  const GroupKey group = {frame.channel.group, frame.members};
  if (num_begun_.size() >= kMaxGroups * static_cast<std::size_t>(num_ranks) && num_begun_.count({rank, group}) == 0)
    throw ContractError("collectives of too many groups");
  const std::pair<GroupKey, std::uint64_t> key = {group, num_begun_[{rank, group}]++};
  const std::vector<int> ranks = frame.members;
  std::map<int, Part>& arrived = open_[key];
  arrived[rank] = Part{std::move(frame), std::move(payload)};
  if (arrived.size() < ranks.size()) return std::nullopt;
  Parts parts;
  for (const int each : ranks) parts.push_back(std::move(arrived[each]));
  open_.erase(key);
  return collect_results(ranks, parts);
}

std::optional<int> Gatherings::missing_for(int rank) const {
  for (const auto& [key, arrived] : open_) {
    if (arrived.count(rank) == 0) continue;
    for (const int other : key.first.second) {
      if (arrived.count(other) == 0) return other;
    }
  }
  return std::nullopt;
}

}  // namespace lab::comm
