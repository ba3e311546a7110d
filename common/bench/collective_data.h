#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/api/communicator.h"

// What benchmarks of collectives share: data whose results are known, and what ranks do between two measurements.
namespace lab {

/// A rank's input: integers whose sums are exact in any order.
at::Tensor collective_input(std::int64_t num_elements, int rank);

/// What a collective, from rank 0 and along dimension 0, returns on this rank for all ranks' collective_input().
/// Inputs    collective: broadcast, allreduce, allgather, reduce_scatter or all_to_all
at::Tensor expected_result(const std::string& collective, std::int64_t input_elements, int rank, int size);

/// The values of all ranks, one row each.
at::Tensor of_all_ranks(Communicator& comm, const std::vector<double>& values);

/// A barrier over the connections that messages use: in round k, each rank tells the one 2^k further on that it is there.
void line_up(PointToPoint& p2p);

}  // namespace lab
