// Uses the benchmarks' own connection between processes.
#include "a9_collectives/broadcast.h"
#include "common/bench/gloo_peer.h"

#include <stdexcept>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  GlooPeer peer("/tmp", p2p.rank(), p2p.size(), GlooPeer::Scheduling::kUsual);
  peer.broadcast(tensor, src_rank);
  throw std::runtime_error("BREACH: the ranks have a connection of their own");
}

}  // namespace lab::a9
