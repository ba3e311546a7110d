#include "a9_collectives/allgather.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/parts.h"

// Rank r counts parts from itself: place i holds part r+i. Before the step with distance d, places 0 ... d-1 are
// filled; what rank r+d has at its place i is this rank's place d+i. At the end everything is turned by r places.
namespace lab::a9 {

at::Tensor allgather_bruck(at::Tensor tensor, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.allgather_bruck
  // STUB // TODO(a9.allgather_bruck): double what is held in every step, as parts r, r+1, ..., for any number of ranks;
  // STUB // then turn them into rank order.
  // STUB not_implemented("a9.allgather_bruck", tensor, p2p);
  const int size = p2p.size();
  const int rank = p2p.rank();
  const Parts parts(tensor, p2p);
  const std::int64_t length = tensor.size(0);
  const at::Tensor places = at::empty_like(parts.whole());
  places.narrow(0, 0, length).copy_(parts.own());
  for (int distance = 1; distance < size; distance *= 2) {
    const std::int64_t count = std::min(distance, size - distance) * length;
    exchange(p2p, places.narrow(0, 0, count), (rank - distance + size) % size,
             places.narrow(0, distance * length, count), (rank + distance) % size);
  }
  const int turned = size - rank;  // places up to the part of the last rank
  parts.range(rank, size).copy_(places.narrow(0, 0, turned * length));
  parts.range(0, rank).copy_(places.narrow(0, turned * length, rank * length));
  return parts.whole();
  // END SOLUTION a9.allgather_bruck
}

}  // namespace lab::a9
