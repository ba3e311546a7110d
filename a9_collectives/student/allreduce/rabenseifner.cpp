#include "a9_collectives/allreduce.h"
#include "a9_collectives/fold.h"

// A virtual rank is responsible for a range of p chunks, at first for all. Halving: ranks a distance apart keep one
// half each and exchange what the other keeps; after lg p steps each has the sum of one chunk. Doubling undoes the
// steps.
namespace lab::a9 {

at::Tensor allreduce_rabenseifner(at::Tensor tensor, PointToPoint& p2p) {
  // BEGIN SOLUTION a9.allreduce_rabenseifner
  // STUB // TODO(a9.allreduce_rabenseifner): a reduce-scatter by recursive halving, then an all-gather by recursive
  // STUB // doubling along the same pairs in reverse.
  // STUB not_implemented("a9.allreduce_rabenseifner", tensor, p2p);
  const Fold fold(p2p);
  const Row row(tensor);
  const at::Tensor& all = row.elements();
  if (fold.stands_aside()) {
    p2p.send(all, fold.partner());
    p2p.recv(all, fold.partner());
    return row.give_back();
  }
  const at::Tensor buffer = at::empty_like(all);
  if (fold.has_guest()) {
    p2p.recv(buffer, fold.partner());
    all.add_(buffer);
  }
  const Chunks chunks(all, fold.power());
  const int self = fold.virtual_rank();
  for (int distance = fold.power() / 2; distance >= 1; distance /= 2) {
    const int peer = fold.real_rank(self ^ distance);
    const int kept = self & ~(distance - 1);  // first chunk of this rank's half
    const int given = kept ^ distance;
    const at::Tensor target = chunks.range(kept, kept + distance);
    const at::Tensor received = buffer.narrow(0, 0, target.numel());
    exchange(p2p, chunks.range(given, given + distance), peer, received, peer);
    target.add_(received);
  }
  for (int distance = 1; distance < fold.power(); distance *= 2) {
    const int peer = fold.real_rank(self ^ distance);
    const int have = self & ~(distance - 1);
    const int lacking = have ^ distance;
    exchange(p2p, chunks.range(have, have + distance), peer, chunks.range(lacking, lacking + distance), peer);
  }
  if (fold.has_guest()) p2p.send(all, fold.partner());
  return row.give_back();
  // END SOLUTION a9.allreduce_rabenseifner
}

}  // namespace lab::a9
