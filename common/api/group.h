#pragma once

#include <cstdint>
#include <vector>

namespace lab::comm {

/// Some ranks of a world, renumbered from 0, and this rank's place among them.
struct Group {
  std::uint32_t id = 0;          ///< equal on all members; 0 is the whole world
  std::vector<int> world_ranks;  ///< world rank of each member
  int rank = 0;                  ///< this rank's number in the group

  int size() const { return static_cast<int>(world_ranks.size()); }
  int world_rank(int member) const { return world_ranks[static_cast<std::size_t>(member)]; }
};

}  // namespace lab::comm
