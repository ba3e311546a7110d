#include "a9_collectives/two_level.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "a9_collectives/allgather.h"
#include "a9_collectives/choices.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "common/api/errors.h"

namespace lab::a9 {
namespace {

struct Levels {
  std::vector<int> inside;  ///< the ranks of this rank's host
  std::vector<int> across;  ///< of each host, the rank that has this rank's place there
};

std::optional<Levels> find_levels(const PointToPoint& p2p) {
  std::map<int, std::vector<int>> hosts;
  for (int rank = 0; rank < p2p.size(); ++rank) hosts[p2p.host_of(rank)].push_back(rank);
  Levels levels;
  levels.inside = hosts.at(p2p.host_of(p2p.rank()));
  const auto self = std::find(levels.inside.begin(), levels.inside.end(), p2p.rank());
  const auto place = static_cast<std::size_t>(self - levels.inside.begin());
  for (const auto& [host, ranks] : hosts) {
    if (ranks.size() != levels.inside.size()) return std::nullopt;
    levels.across.push_back(ranks[place]);
  }
  if (levels.inside.size() < 2 || levels.across.size() < 2) return std::nullopt;
  return levels;
}

}  // namespace

bool has_two_levels(const PointToPoint& p2p) {
  return find_levels(p2p).has_value();
}

bool prefers_two_levels(std::int64_t num_bytes, const PointToPoint& p2p) {
  return num_bytes >= 64 * kKiB && has_two_levels(p2p);
}

at::Tensor allreduce_two_level(at::Tensor tensor, PointToPoint& p2p) {
  const std::optional<Levels> levels = find_levels(p2p);
  if (!levels)
    throw ContractError("allreduce_two_level: expected several hosts with equally many ranks on each, at least 2");
  PointToPoint inside = p2p.subgroup(levels->inside), across = p2p.subgroup(levels->across);
  const Row row(tensor);
  const at::Tensor& elements = row.elements();
  const std::int64_t missing = (p2p.size() - elements.numel() % p2p.size()) % p2p.size();
  const at::Tensor padded = missing == 0 ? elements : at::constant_pad_nd(elements, {0, missing});
  const at::Tensor sum = my_reduce_scatter(my_reduce_scatter(padded, inside), across);
  elements.copy_(my_allgather(my_allgather(sum, across), inside).narrow(0, 0, elements.numel()));
  return row.give_back();
}

}  // namespace lab::a9
