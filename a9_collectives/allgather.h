#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/point_to_point.h"

// n: bytes of the result, P times those of the input. P: number of ranks. alpha: seconds for an empty message. beta:
// seconds per byte. p: the largest power of two that is at most P; e = P - p.
namespace lab::a9 {

/// The tensors of all ranks, joined along dim 0 in rank order, using the algorithm that choose_allgather() names.
/// Call      collective, blocking, no autograd
/// Shapes    in [N, ...] of any dtype, equal on all ranks; out [P*N, ...]
/// Aliasing  the result is new; the input is only read, and may be non-contiguous
/// Errors    ContractError on every rank, before any payload moves: a tensor without dimensions; shape or dtype differ
///           between ranks (ranks that do not detect it themselves get a CommError naming one that did)
/// Example   rank r holds [[5r], [5r + 1], [5r + 2]], P = 2: every rank gets [[0], [1], [2], [5], [6], [7]]
at::Tensor my_allgather(at::Tensor tensor, PointToPoint& p2p);

/// The name of the algorithm that my_allgather uses for a result of num_bytes on num_ranks ranks.
std::string choose_allgather(std::int64_t num_bytes, int num_ranks);

/// The simple algorithm: every rank sends to rank 0, which sends the whole result to each.
/// Cost      2(P-1) steps; rank 0 sends (P-1) n, the others n/P; (P-1) (2 alpha + (1 + 1/P) n beta)
at::Tensor allgather_through_root(at::Tensor tensor, PointToPoint& p2p);

/// Each rank passes on to its right neighbour what it got from its left one.
/// Cost      P-1 steps; (P-1)/P n sent per rank; (P-1) (alpha + n/P beta)
/// Source    Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sec.
///           4.1
at::Tensor allgather_ring(at::Tensor tensor, PointToPoint& p2p);

/// In step k, ranks whose numbers differ in bit k exchange all they have. Ranks beyond a power of two hand their
/// part to a neighbour first and get the whole result at the end.
/// Cost      lg P steps, (P-1)/P n sent per rank, lg P alpha + (P-1)/P n beta for a power of two; else
///           floor(lg P) + 2 steps and (2 + floor(lg P)) alpha + (1 + 1/P + sum over k of (2^k + min(e, 2^k))/P) n beta
/// Source    as above
at::Tensor allgather_recursive_doubling(at::Tensor tensor, PointToPoint& p2p);

/// In step k, rank r sends all it has, the parts of r, r+1, ..., to rank r - 2^k. Works for any P.
/// Cost      ceil(lg P) steps; (P-1)/P n sent per rank; ceil(lg P) alpha + (P-1)/P n beta; one rotation in memory
/// Source    Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems",
///           1997
at::Tensor allgather_bruck(at::Tensor tensor, PointToPoint& p2p);

/// Every rank sends its part to every other, all posted at once.
/// Cost      1 step of P-1 messages; (P-1)/P n sent per rank; alpha + (P-1)/P n beta
at::Tensor allgather_direct(at::Tensor tensor, PointToPoint& p2p);

}  // namespace lab::a9
