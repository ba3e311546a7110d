#include "a9_collectives/all_to_all.h"
#include "a9_collectives/assembly.h"

namespace lab::a9 {

at::Tensor all_to_all_direct(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.all_to_all
  // STUB // TODO(a9.all_to_all): cut the tensor into P chunks along scatter_dim; post an isend of chunk i to rank i and
  // STUB // an irecv from rank i for every other rank; wait for all; join what came, your own chunk among it, along
  // STUB // gather_dim in rank order.
  // STUB not_implemented("a9.all_to_all", tensor, scatter_dim, gather_dim, p2p);
  const int size = p2p.size();
  const std::vector<at::Tensor> chunks = pieces(tensor, scatter_dim, size);
  const Assembly result(chunks[0], gather_dim, size);
  std::vector<Request> requests;
  for (int distance = 1; distance < size; ++distance) {
    const int dst_rank = (p2p.rank() + distance) % size;
    const int src_rank = (p2p.rank() - distance + size) % size;
    requests.push_back(p2p.irecv(result.part(src_rank), src_rank));
    requests.push_back(p2p.isend(chunks[static_cast<std::size_t>(dst_rank)], dst_rank));
  }
  result.part(p2p.rank()).copy_(chunks[static_cast<std::size_t>(p2p.rank())]);
  for (Request& request : requests) request.wait();
  return result.whole();
  // END SOLUTION a9.all_to_all
}

}  // namespace lab::a9
