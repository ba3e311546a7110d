#include "a9_collectives/broadcast.h"

// Ranks are counted from the source: its virtual rank is 0. A virtual rank v > 0 gets the tensor from v without its
// lowest set bit, and then serves v + b for each smaller bit b, the greatest first. Before the step with bit b, exactly
// the multiples of 2b have the tensor.
namespace lab::a9 {

at::Tensor broadcast_binomial(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.broadcast_binomial
  // STUB // TODO(a9.broadcast_binomial): let every rank that has the tensor pass it on in every step, so that the number
  // STUB // of ranks that have it doubles: ceil(lg P) steps.
  // STUB not_implemented("a9.broadcast_binomial", tensor, src_rank, p2p);
  const int size = p2p.size();
  const int virtual_rank = (p2p.rank() - src_rank + size) % size;
  const auto real_rank = [&](int other) { return (other + src_rank) % size; };

  int bit = 1;
  while (bit < size && (virtual_rank & bit) == 0) bit *= 2;
  if (virtual_rank != 0) p2p.recv(tensor, real_rank(virtual_rank - bit));
  for (bit /= 2; bit >= 1; bit /= 2) {
    if (virtual_rank + bit < size) p2p.send(tensor, real_rank(virtual_rank + bit));
  }
  return tensor;
  // END SOLUTION a9.broadcast_binomial
}

}  // namespace lab::a9
