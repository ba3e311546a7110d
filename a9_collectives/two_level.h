#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/api/point_to_point.h"

// An all-reduce for ranks on several hosts, made of your own collectives. Ranks of one host share a link to the others,
// which is slower than what is between them.
// n: bytes of the tensor. H: number of hosts. L: ranks on each.
namespace lab::a9 {

/// Whether the ranks are on several hosts, equally many on each, and more than one.
bool has_two_levels(const PointToPoint& p2p);

/// Whether my_allreduce() of num_bytes uses allreduce_two_level() in place of what choose_allreduce() names: where there
/// are two levels, from 64 KiB on. Below, its additional steps take longer than its bytes save.
bool prefers_two_levels(std::int64_t num_bytes, const PointToPoint& p2p);

/// my_reduce_scatter() inside each host, then of each part between the ranks that have it, one of each host;
/// my_allgather() the same way back.
/// Call      as my_allreduce(), and so are shapes, aliasing and what all ranks end with
/// Cost      that of the four, of n bytes on L ranks and n/L on H, twice. 2(H-1)/H n leave a host, the fewest possible;
///           a ring of all ranks has as many, in 2(HL-1) steps
/// Errors    ContractError: has_two_levels() is false; those of the four
/// Source    Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, sec. 3.3
at::Tensor allreduce_two_level(at::Tensor tensor, PointToPoint& p2p);

}  // namespace lab::a9
