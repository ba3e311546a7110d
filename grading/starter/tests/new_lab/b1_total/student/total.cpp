#include "b1_total/total.h"

#include "common/api/errors.h"

namespace lab::b1 {

at::Tensor total(const at::Tensor& x, PointToPoint& p2p) {
  // BEGIN SOLUTION b1.total
  // STUB // TODO(b1.total): rank 0 adds up what the others send, and sends them the sum.
  // STUB not_implemented("b1.total", x, p2p);
  at::Tensor sum = x.clone();
  if (p2p.rank() != 0) {
    p2p.send(x, 0);
    p2p.recv(sum, 0);
    return sum;
  }
  at::Tensor other = at::empty_like(x);
  for (int rank = 1; rank < p2p.size(); ++rank) {
    p2p.recv(other, rank);
    sum.add_(other);
  }
  for (int rank = 1; rank < p2p.size(); ++rank) p2p.send(sum, rank);
  return sum;
  // END SOLUTION b1.total
}

}  // namespace lab::b1
