#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/point_to_point.h"

// n: bytes of the tensor. P: number of ranks. alpha: seconds for an empty message. beta: seconds per byte.
namespace lab::a9 {

/// Rank r cuts its tensor into P chunks along scatter_dim, sends chunk i to rank i, and joins what it receives along
/// gather_dim in rank order, using the algorithm that choose_all_to_all() names.
/// Call      collective, blocking, no autograd
/// Shapes    in: any of any dtype, equal on all ranks; out: scatter_dim divided by P, gather_dim times P (the same
///           shape if both are the same dimension). Negative dimensions count from the end.
/// Aliasing  the result is new and contiguous; the input is only read, and may be non-contiguous
/// Errors    ContractError on every rank, before any payload moves: a dimension out of range, scatter_dim does not
///           divide by P; dimensions, shape or dtype differ between ranks (ranks that do not detect it themselves get a
///           CommError naming one that did)
/// Example   [batch, seq/P, heads, head_dim], scatter_dim 2, gather_dim 1: [batch, seq, heads/P, head_dim]
at::Tensor my_all_to_all(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p);

/// The name of the algorithm that my_all_to_all uses for num_bytes on num_ranks ranks.
std::string choose_all_to_all(std::int64_t num_bytes, int num_ranks);

/// The simple algorithm: all P-1 sends and receives are posted at once, then waited for.
/// Cost      1 step of P-1 messages; (P-1)/P n sent per rank; alpha + (P-1)/P n beta
at::Tensor all_to_all_direct(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p);

/// In step d, rank r sends to rank r+d and receives from rank r-d: never more than one message each way.
/// Cost      P-1 steps; (P-1)/P n sent per rank; (P-1) (alpha + n/P beta)
/// Source    Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, sec.
///           4.3
at::Tensor all_to_all_pairwise(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p);

/// Each chunk travels its distance, from rank r to rank r+i, in powers of two: in the step with distance d, rank r sends
/// to rank r+d, as one message, all that it holds whose distance has the binary digit d.
/// Cost      ceil(lg P) steps; for a power of two n/2 sent per step: lg P (alpha + n/2 beta). Otherwise as many chunks
///           per step as there are distances below P with that digit
/// Source    Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport
///           Message-Passing Systems", 1997, sec. 3
at::Tensor all_to_all_bruck(at::Tensor tensor, std::int64_t scatter_dim, std::int64_t gather_dim, PointToPoint& p2p);

}  // namespace lab::a9
