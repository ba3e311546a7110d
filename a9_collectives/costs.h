#pragma once

#include <cstdint>

namespace lab::a9 {

/// What an algorithm's longest chain of waits is made of, in the alpha-beta model (every rank sends and receives at the
/// same time, one message each way at full speed): the formula in the algorithm's header, evaluated.
struct Cost {
  double steps = 0;       ///< times alpha
  double path_bytes = 0;  ///< times beta

  double seconds(double alpha, double beta) const { return steps * alpha + path_bytes * beta; }
};

/// (P - 1) / P: the part of the data that a rank lacks at first, where all have equal parts.
double share_of_others(int num_ranks);

// One function per algorithm. num_bytes as in the headers: n, of the whole tensor that the formula speaks of.
Cost cost_broadcast_flat(double num_bytes, int num_ranks);
Cost cost_broadcast_binomial(double num_bytes, int num_ranks);
Cost cost_broadcast_chain(double num_bytes, int num_ranks);
Cost cost_allreduce_gather_broadcast(double num_bytes, int num_ranks);
Cost cost_allreduce_recursive_doubling(double num_bytes, int num_ranks);
Cost cost_allreduce_ring(double num_bytes, int num_ranks);
Cost cost_allreduce_rabenseifner(double num_bytes, int num_ranks);
Cost cost_allreduce_direct(double num_bytes, int num_ranks);
Cost cost_allgather_through_root(double num_bytes, int num_ranks);
Cost cost_allgather_ring(double num_bytes, int num_ranks);
Cost cost_allgather_recursive_doubling(double num_bytes, int num_ranks);
Cost cost_allgather_bruck(double num_bytes, int num_ranks);
Cost cost_allgather_direct(double num_bytes, int num_ranks);
Cost cost_reduce_scatter_pairwise(double num_bytes, int num_ranks);
Cost cost_reduce_scatter_ring(double num_bytes, int num_ranks);
Cost cost_reduce_scatter_recursive_halving(double num_bytes, int num_ranks);
Cost cost_all_to_all_direct(double num_bytes, int num_ranks);
Cost cost_all_to_all_pairwise(double num_bytes, int num_ranks);

}  // namespace lab::a9
