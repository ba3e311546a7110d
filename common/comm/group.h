#pragma once

#include <cstdint>
#include <vector>

namespace lab::comm {

/// Set in the group number of messages that belong to a collective, so that they never match a user's message.
constexpr std::uint32_t kCollectiveChannel = 0x80000000U;

/// Some ranks of a world, renumbered from 0, and this rank's place among them.
struct Group {
  std::uint32_t id = 0;          ///< equal on all members; 0 is the whole world
  std::vector<int> world_ranks;  ///< world rank of each member
  int rank = 0;                  ///< this rank's number in the group

  int size() const { return static_cast<int>(world_ranks.size()); }
  int world_rank(int member) const { return world_ranks[static_cast<std::size_t>(member)]; }
};

/// The group of all ranks.
Group whole_world(int rank, int size);

/// The members of parent listed in `members` (ranks of the parent), in that order. A local operation; every member must
/// list the same. `ordinal` counts earlier groups of the same members.
/// Errors    ContractError: a member out of range or listed twice, or this rank not listed.
Group make_group(const Group& parent, const std::vector<int>& members, std::uint32_t ordinal);

}  // namespace lab::comm
