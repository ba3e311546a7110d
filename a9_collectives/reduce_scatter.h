#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/point_to_point.h"

// n: bytes of the input, P times those of the result. P: number of ranks. alpha: seconds for an empty message. beta:
// seconds per byte. p: the largest power of two that is at most P; e = P - p.
namespace lab::a9 {

/// On rank r, the sum over all ranks of their r-th chunk along dim 0, using the algorithm that
/// choose_reduce_scatter() names.
/// Call      collective, blocking, no autograd
/// Shapes    in [P*N, ...] of any dtype that add_ supports, equal on all ranks; out [N, ...]
/// Aliasing  the result is new; the input is only read, and may be non-contiguous
/// Errors    ContractError on every rank, before any payload moves: dim 0 does not divide by P; shape or dtype differ
///           between ranks (ranks that do not detect it themselves get a CommError naming one that did)
/// Example   rank r holds [4r, 4r+1, 4r+2, 4r+3], P = 4: ranks get [24], [28], [32], [36]
at::Tensor my_reduce_scatter(at::Tensor tensor, PointToPoint& p2p);

/// The name of the algorithm that my_reduce_scatter uses for an input of num_bytes on num_ranks ranks.
std::string choose_reduce_scatter(std::int64_t num_bytes, int num_ranks);

/// The simple algorithm: in step d, rank r sends chunk r+d to its owner and gets its own chunk from rank r-d.
/// Order     on rank r: x_r + x_(r-1) + x_(r-2) + ... round the ranks
/// Cost      P-1 steps; (P-1)/P n sent per rank; (P-1) (alpha + n/P beta)
/// Source    Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sec.
///           4.4
at::Tensor reduce_scatter_pairwise(at::Tensor tensor, PointToPoint& p2p);

/// Each chunk travels round a ring to its owner, and each rank on the way adds its part.
/// Order     on rank r: ((x_(r+1) + x_(r+2)) + ...) + x_r, round the ring
/// Cost      P-1 steps; (P-1)/P n sent per rank; (P-1) (alpha + n/P beta)
/// Source    Patarasuk, Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", 2009
at::Tensor reduce_scatter_ring(at::Tensor tensor, PointToPoint& p2p);

/// In each step, ranks exchange the half of the sums that the other side needs. Ranks beyond a power of two hand their
/// input to a neighbour first and get their chunk at the end.
/// Order     a balanced tree over the ranks
/// Cost      lg P steps, (P-1)/P n sent per rank, lg P alpha + (P-1)/P n beta for a power of two; else
///           floor(lg P) + 2 steps and (2 + floor(lg P)) alpha + (1 + 1/P + sum over k of (2^k + min(e, 2^k))/P) n beta
/// Source    as above, sec. 4.4
at::Tensor reduce_scatter_recursive_halving(at::Tensor tensor, PointToPoint& p2p);

}  // namespace lab::a9
