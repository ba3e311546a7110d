#include "a9_collectives/allgather.h"
#include "a9_collectives/fold.h"
#include "a9_collectives/parts.h"

// Before the step with distance d, a virtual rank holds the parts of the d virtual ranks that share its number without
// the bits below d: one range, as parts follow each other in the order of virtual ranks.
namespace lab::a9 {

at::Tensor allgather_recursive_doubling(at::Tensor tensor, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.allgather_recursive_doubling
  // STUB // TODO(a9.allgather_recursive_doubling): in step k, exchange everything held with the rank whose number
  // STUB // differs in bit k. Fold (fold.h) serves a number of ranks that is no power of two.
  // STUB not_implemented("a9.allgather_recursive_doubling", tensor, p2p);
  const Fold fold(p2p);
  const Parts parts(tensor, p2p);
  if (fold.stands_aside()) {
    p2p.send(parts.own(), fold.partner());
    p2p.recv(parts.whole(), fold.partner());
    return parts.whole();
  }
  if (fold.has_guest()) p2p.recv(parts.part(fold.partner()), fold.partner());
  const auto held_by = [&](int first, int count) {
    return parts.range(fold.first_chunk(first), fold.first_chunk(first + count));
  };
  for (int distance = 1; distance < fold.power(); distance *= 2) {
    const int peer = fold.real_rank(fold.virtual_rank() ^ distance);
    const int have = fold.virtual_rank() & ~(distance - 1);
    exchange(p2p, held_by(have, distance), peer, held_by(have ^ distance, distance), peer);
  }
  if (fold.has_guest()) p2p.send(parts.whole(), fold.partner());
  return parts.whole();
  // END SOLUTION a9.allgather_recursive_doubling
}

}  // namespace lab::a9
