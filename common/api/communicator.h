#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/api/collectives.h"
#include "common/api/point_to_point.h"

namespace lab::comm {

/// Per-rank handle: the rank's number, its two facets, and the sub-groups made from it. It is passed to all code that
/// communicates; there is no global. Copies of a facet may be kept; they share this rank's endpoint.
class Communicator {
 public:
  /// The communicator of the whole world.
  Communicator(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend);

  int rank() const { return group_.rank; }
  int size() const { return group_.size(); }
  const Group& group() const { return group_; }

  PointToPoint& point_to_point() { return point_to_point_; }
  Collectives& collectives() { return collectives_; }

  /// A communicator for some of this one's ranks, in the given order. Called by the members only, each with the same
  /// list; sends nothing.
  /// Errors    ContractError: a rank out of range or twice, or this rank not listed.
  /// Example   of 4 ranks, on 1 and 3: subgroup({1, 3}) -> size 2, ranks 0 and 1
  Communicator subgroup(const std::vector<int>& ranks);

 private:
  Communicator(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend, Group group);
  friend Endpoint& get_endpoint(Communicator& comm);  // get_endpoint.h

  std::shared_ptr<Endpoint> endpoint_;
  std::shared_ptr<CollectiveBackend> backend_;
  Group group_;
  PointToPoint point_to_point_;
  Collectives collectives_;
  std::map<std::vector<int>, std::uint32_t> num_subgroups_;
};

}  // namespace lab::comm

namespace lab {
using comm::Communicator;
}  // namespace lab
