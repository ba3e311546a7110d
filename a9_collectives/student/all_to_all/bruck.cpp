#include "a9_collectives/all_to_all.h"
#include "a9_collectives/assembly.h"
#include "a9_collectives/chunks.h"

// Rank r counts chunks from itself: place i holds one that has i ranks to go. In the step with distance d, whatever has a
// distance whose binary digit d is set goes on by d ranks, and what comes takes its places. So each chunk travels its
// distance in powers of two, and at the end place i holds what rank r-i sent.
namespace lab::a9 {

at::Tensor all_to_all_bruck(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.all_to_all_bruck
  // STUB // TODO(a9.all_to_all_bruck): let each chunk travel its distance in powers of two: in every step, all that have
  // STUB // to make it go together, as one message.
  // STUB not_implemented("a9.all_to_all_bruck", tensor, scatter_dim, gather_dim, p2p);
  const int size = p2p.size();
  const int rank = p2p.rank();
  const std::vector<at::Tensor> chunks = tensor.chunk(size, scatter_dim);
  std::vector<at::Tensor> places;
  for (int i = 0; i < size; ++i) places.push_back(chunks[static_cast<std::size_t>((rank + i) % size)]);

  for (int distance = 1; distance < size; distance *= 2) {
    std::vector<at::Tensor> leaving;
    for (int i = distance; i < size; ++i) {
      if ((i & distance) != 0) leaving.push_back(places[static_cast<std::size_t>(i)]);
    }
    const at::Tensor sent = at::stack(leaving);
    const at::Tensor received = at::empty_like(sent);
    sendrecv(p2p, sent, (rank + distance) % size, received, (rank - distance + size) % size);
    for (int i = distance, taken = 0; i < size; ++i) {
      if ((i & distance) != 0) places[static_cast<std::size_t>(i)] = received[taken++];
    }
  }

  const Assembly result(chunks[0], gather_dim, size);
  for (int i = 0; i < size; ++i) result.part((rank - i + size) % size).copy_(places[static_cast<std::size_t>(i)]);
  return result.whole();
  // END SOLUTION a9.all_to_all_bruck
}

}  // namespace lab::a9
