#include "a9_collectives/all_to_all.h"
#include "a9_collectives/assembly.h"
#include "a9_collectives/chunks.h"

namespace lab::a9 {

at::Tensor all_to_all_pairwise(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim,
                               PointToPoint& p2p) {
  // BEGIN SOLUTION a9.all_to_all_pairwise
  // STUB // TODO(a9.all_to_all_pairwise): the same in P-1 steps of one sendrecv() each.
  // STUB not_implemented("a9.all_to_all_pairwise", tensor, scatter_dim, gather_dim, p2p);
  const int size = p2p.size();
  const std::vector<at::Tensor> chunks = pieces(tensor, scatter_dim, size);
  const Assembly result(chunks[0], gather_dim, size);
  result.part(p2p.rank()).copy_(chunks[static_cast<std::size_t>(p2p.rank())]);
  for (int distance = 1; distance < size; ++distance) {
    const int dst_rank = (p2p.rank() + distance) % size;
    const int src_rank = (p2p.rank() - distance + size) % size;
    sendrecv(p2p, chunks[static_cast<std::size_t>(dst_rank)], dst_rank, result.part(src_rank), src_rank);
  }
  return result.whole();
  // END SOLUTION a9.all_to_all_pairwise
}

}  // namespace lab::a9
