#include "common/comm/group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "common/api/errors.h"

namespace lab::comm {

Group whole_world(int rank, int size) {
  Group world;
  world.world_ranks.resize(static_cast<std::size_t>(size));
  std::iota(world.world_ranks.begin(), world.world_ranks.end(), 0);
  world.rank = rank;
  return world;
}

Group make_group(const Group& parent, const std::vector<int>& members, std::uint32_t ordinal) {
  Group group;
  std::uint32_t hash = (parent.id ^ 2166136261U) * 16777619U ^ ordinal;  // FNV-1a over the member list
  for (const int member : members) {
    if (member < 0 || member >= parent.size()) {
      throw ContractError(fmt::format("sub-group [{}]: expected ranks 0 to {}, got {}", fmt::join(members, ", "),
                                      parent.size() - 1, member));
    }
    if (std::count(members.begin(), members.end(), member) != 1) {
      throw ContractError(fmt::format("sub-group [{}]: rank {} is listed twice", fmt::join(members, ", "), member));
    }
    group.world_ranks.push_back(parent.world_rank(member));
    hash = (hash ^ static_cast<std::uint32_t>(member)) * 16777619U;
  }
  const auto self = std::find(members.begin(), members.end(), parent.rank);
  if (self == members.end()) {
    throw ContractError(
        fmt::format("sub-group [{}]: rank {} asked for it but is not listed", fmt::join(members, ", "), parent.rank));
  }
  group.rank = static_cast<int>(self - members.begin());
  group.id = hash % 0x7fffffffU + 1;  // 31 bits: the top bit marks the channels of collectives, 0 is the world
  return group;
}

}  // namespace lab::comm
