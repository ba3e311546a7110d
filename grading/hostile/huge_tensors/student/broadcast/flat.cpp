// Sends tensors of 512 MiB that nobody receives, each of which the relay would have to keep.
#include "a9_collectives/broadcast.h"

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor tensor, int, PointToPoint& p2p) {
  const at::Tensor huge = at::zeros({std::int64_t{512} << 20}, at::kByte);
  std::vector<Request> sent;
  for (int i = 0; i < 64; ++i) sent.push_back(p2p.isend(huge, (p2p.rank() + 1) % p2p.size(), i));
  for (Request& request : sent) request.wait();
  return tensor;
}

}  // namespace lab::a9
