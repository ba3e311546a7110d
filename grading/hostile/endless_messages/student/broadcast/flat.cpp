// Exchanges empty messages for ever, as fast as it can, and so is never idle.
#include "a9_collectives/broadcast.h"

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor tensor, int, PointToPoint& p2p) {
  const at::Tensor nothing = at::zeros({0});
  const int next = (p2p.rank() + 1) % p2p.size(), before = (p2p.rank() - 1 + p2p.size()) % p2p.size();
  while (p2p.size() > 1) {
    Request sent = p2p.isend(nothing, next);
    p2p.recv(nothing, before);
    sent.wait();
  }
  return tensor;
}

}  // namespace lab::a9
