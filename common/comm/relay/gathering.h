#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/costs.h"
#include "common/comm/relay/frame.h"

// The collectives of a relay, which computes them itself. Internal to comm/relay.
namespace lab::comm {

/// What a collective gives one of its members.
struct CollectiveResult {
  int rank = 0;                  ///< world rank
  std::string payload;           ///< what it receives, without its own part of an all_to_all
  LedgerEntry cost;              ///< as Ledger counts it
  std::int64_t model_began = 0;  ///< when the last member began it, in model time
  std::string violation;         ///< why the members do not agree; if set, there is no payload
};

/// The collective operations that some of their members have begun. Those of one group are in order: the n-th of one
/// member is the n-th of each.
class Gatherings {
 public:
  /// A rank begins one (RelayFrame::Kind::kCollect). Returns the results of all members, once all of them have.
  /// Errors    ContractError: the frame, which untrusted code may have written, is not that of a collective
  std::optional<std::vector<CollectiveResult>> begin(int rank, int num_ranks, RelayFrame frame, std::string payload);

  /// The first rank that has not begun what this one has; none if this one waits for none.
  std::optional<int> missing_for(int rank) const;

  struct Part {
    RelayFrame frame;
    std::string payload;
  };

 private:
  using GroupKey = std::pair<std::uint32_t, std::vector<int>>;  ///< its number, the world ranks of its members

  std::map<std::pair<GroupKey, std::uint64_t>, std::map<int, Part>> open_;  ///< the n-th of a group, by rank
  std::map<std::pair<int, GroupKey>, std::uint64_t> num_begun_;
};

}  // namespace lab::comm
