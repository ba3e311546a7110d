#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/point_to_point.h"

// n: bytes of the tensor. P: number of ranks. alpha: seconds for an empty message. beta: seconds per byte.
// p: the largest power of two that is at most P.
namespace lab::a9 {

/// Overwrites `tensor` on every rank with the sum over all ranks, using the algorithm that choose_allreduce() names.
/// Call      collective, blocking, no autograd
/// Shapes    any, of any dtype that add_ supports, equal on all ranks; may be non-contiguous
/// Aliasing  in place; returns the tensor itself
/// Order     depends on the algorithm; with each of them all ranks end with the same bits
/// Errors    ContractError on every rank, before any payload moves: shape or dtype differ between ranks (ranks
///           that do not detect it themselves get a CommError naming one that did)
/// Example   rank r holds [2r + 3], P = 3: every rank holds [15]
at::Tensor my_allreduce(at::Tensor tensor, PointToPoint& p2p);

/// The name of the algorithm that my_allreduce uses for num_bytes on num_ranks ranks.
std::string choose_allreduce(std::int64_t num_bytes, int num_ranks);

/// The simple algorithm: every rank sends to rank 0, which adds and broadcasts (broadcast_flat).
/// Order     ((x_0 + x_1) + x_2) + ...
/// Cost      2(P-1) steps; rank 0 sends (P-1) n, the others n; 2(P-1) (alpha + n beta)
at::Tensor allreduce_gather_broadcast(at::Tensor tensor, PointToPoint& p2p);

/// In step k, ranks whose numbers differ in bit k exchange their sums. Ranks beyond a power of two hand theirs to a
/// neighbour first and get the result at the end.
/// Order     a balanced tree over the ranks; both sides of an exchange add the same two numbers, so the bits agree
/// Cost      lg P steps for a power of two, else floor(lg P) + 2; n bytes sent per step; steps (alpha + n beta)
/// Source    Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sec.
///           4.5
at::Tensor allreduce_recursive_doubling(at::Tensor tensor, PointToPoint& p2p);

/// Chunks travel round a ring, first collecting summands, then as results.
/// Order     chunk c: x_c + x_(c+1) + ... round the ring, from rank c
/// Cost      2(P-1) steps; rank r sends 2n - chunk(r+1) - chunk(r+2); 2(P-1) (alpha + n/P beta)
/// Source    Patarasuk, Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", 2009
at::Tensor allreduce_ring(at::Tensor tensor, PointToPoint& p2p);

/// The ring with chunks that travel to their sums in segments: while one is added, the next one arrives.
/// Order     as the ring's
/// Cost      as the ring's, but k messages in place of each that travels to a sum; on links that work while a rank adds,
///           only a segment's sum is not hidden: 2(P-1) (alpha + n/P beta), and (k-1)(P-1) alpha more where a link takes
///           one message after the other
/// Memory    two segments beside the tensor, in place of a chunk
/// Source    Open MPI's allreduce "segmented_ring"; Fagg et al., "Flexible Collective Communication Tuning Architecture
///           Applied to Open MPI", 2006
at::Tensor allreduce_ring_segmented(at::Tensor tensor, PointToPoint& p2p);

/// k: in how many segments a chunk of an all-reduce of num_bytes travels.
std::int64_t allreduce_ring_segments(std::int64_t num_bytes, int num_ranks);

/// Recursive halving reduce-scatter, then recursive doubling all-gather. Ranks beyond a power of two as above.
/// Order     a balanced tree over the ranks, element by element; each element is summed in one place
/// Cost      2 lg p steps; 2 (p-1)/p n sent per rank; 2 lg p alpha + 2 (p-1)/p n beta. If P is not a power of two:
///           2 more steps, up to n more sent per rank, and 2 (alpha + n beta) more
/// Source    Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004
at::Tensor allreduce_rabenseifner(at::Tensor tensor, PointToPoint& p2p);

/// Every rank sends chunk i to rank i, which adds and sends the result to all: both phases posted at once.
/// Order     chunk c: x_0 + x_1 + ... in rank order
/// Cost      2 steps of P-1 messages; rank r sends n - chunk(r), then (P-1) chunk(r); 2 alpha + 2 (P-1)/P n beta
at::Tensor allreduce_direct(at::Tensor tensor, PointToPoint& p2p);

}  // namespace lab::a9
