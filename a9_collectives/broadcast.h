#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/point_to_point.h"

// n: bytes of the tensor. P: number of ranks. alpha: seconds for an empty message. beta: seconds per byte.
namespace lab::a9 {

/// Overwrites `tensor` on every rank with what `src_rank` holds, using the algorithm that choose_broadcast() names.
/// Call      collective, blocking, no autograd
/// Shapes    any, of any dtype, equal on all ranks; may be non-contiguous
/// Aliasing  in place; returns the tensor itself
/// Errors    ContractError on every rank, before any payload moves: src_rank outside [0, P); src_rank, shape or dtype
///           differ between ranks (ranks that do not detect it themselves get a CommError naming one that did)
/// Example   rank r holds [7 * r], src_rank 3: every rank holds [21]
at::Tensor my_broadcast(at::Tensor tensor, int src_rank, PointToPoint& p2p);

/// The name of the algorithm that my_broadcast uses for num_bytes on num_ranks ranks.
std::string choose_broadcast(std::int64_t num_bytes, int num_ranks);

/// The simple algorithm: src_rank sends to each other rank in turn.
/// Cost      P-1 steps; src_rank sends (P-1) n; (P-1) (alpha + n beta)
at::Tensor broadcast_flat(at::Tensor tensor, int src_rank, PointToPoint& p2p);

/// A binomial tree: in every step, each rank that has the data passes it on to one that does not.
/// Cost      ceil(lg P) steps; src_rank sends ceil(lg P) n; ceil(lg P) (alpha + n beta)
/// Source    Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sec. 4
at::Tensor broadcast_binomial(at::Tensor tensor, int src_rank, PointToPoint& p2p);

/// A chain of ranks along which the tensor travels in k = broadcast_chain_segments() pieces, so that all links work at
/// once.
/// Cost      P-2+k steps; every rank but the last sends n; (P-2+k) (alpha + n/k beta), about n beta for a large n
/// Source    Pjesivac-Grbovic et al., "Performance Analysis of MPI Collective Operations", 2007, "pipeline"
at::Tensor broadcast_chain(at::Tensor tensor, int src_rank, PointToPoint& p2p);

/// The number of pieces into which the chain cuts num_bytes: at least 1, at most one per element.
std::int64_t broadcast_chain_segments(std::int64_t num_bytes);

}  // namespace lab::a9
