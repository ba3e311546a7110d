// Right, but with two seconds of work and 200 MiB that the rank's own meters do not see.
#include <ctime>

#include "a9_collectives/broadcast.h"

namespace lab::a9 {
namespace {

void work_unseen() {
  std::vector<char> memory(200 << 20);
  volatile char* const bytes = memory.data();
  for (const std::clock_t begin = std::clock(); std::clock() < begin + 2 * CLOCKS_PER_SEC;) {
    for (std::size_t i = 0; i < memory.size(); i += 4096) bytes[i] = 1;
  }
}

}  // namespace

at::Tensor broadcast_flat(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  if (p2p.rank() == src_rank) work_unseen();
  if (p2p.rank() != src_rank) {
    p2p.recv(tensor, src_rank);
    return tensor;
  }
  for (int dst_rank = 0; dst_rank < p2p.size(); ++dst_rank) {
    if (dst_rank != src_rank) p2p.send(tensor, dst_rank);
  }
  return tensor;
}

}  // namespace lab::a9
