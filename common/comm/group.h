#pragma once

#include <cstdint>
#include <vector>

#include "common/api/group.h"

namespace lab::comm {

/// Set in the group number of messages that belong to a collective, so that they never match a user's message.
constexpr std::uint32_t kCollectiveChannel = 0x80000000U;

/// The group of all ranks.
Group whole_world(int rank, int size);

/// The members of parent listed in `members` (ranks of the parent), in that order. A local operation; every member must
/// list the same. `ordinal` counts earlier groups of the same members.
/// Errors    ContractError: a member out of range or listed twice, or this rank not listed.
Group make_group(const Group& parent, const std::vector<int>& members, std::uint32_t ordinal);

}  // namespace lab::comm
