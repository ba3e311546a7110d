#include "common/api/communicator.h"

#include "common/comm/messages/collective_backend.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/messages/get_endpoint.h"

namespace lab::comm {

Communicator::Communicator(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend)
    : Communicator(endpoint, std::move(backend),
                   whole_world(endpoint->transport().rank(), endpoint->transport().size())) {}

Communicator::Communicator(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend, Group group)
    : endpoint_(std::move(endpoint)),
      backend_(std::move(backend)),
      group_(std::move(group)),
      point_to_point_(endpoint_, group_),
      collectives_(endpoint_, backend_, group_) {}

Endpoint& get_endpoint(Communicator& comm) {
  return *comm.endpoint_;
}

Communicator Communicator::subgroup(const std::vector<int>& ranks) {
  return Communicator(endpoint_, backend_, make_group(group_, ranks, num_subgroups_[ranks]++));
}

}  // namespace lab::comm
