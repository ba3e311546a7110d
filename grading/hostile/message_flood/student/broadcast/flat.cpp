// Sends empty messages that nobody receives, for ever: the relay would have to remember each.
#include "a9_collectives/broadcast.h"

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor tensor, int, PointToPoint& p2p) {
  const at::Tensor nothing = at::zeros({0});
  std::vector<Request> sent;
  for (int i = 0;; ++i) sent.push_back(p2p.isend(nothing, (p2p.rank() + 1) % p2p.size(), i));
  return tensor;
}

}  // namespace lab::a9
