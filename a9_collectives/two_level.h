#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/comm/point_to_point.h"

// An all-reduce for ranks on several hosts, made of your own collectives. Ranks of one host share a link to the others,
// which is slower than what is between them.
// n: bytes of the tensor. H: number of hosts. L: ranks on each.
namespace lab::a9 {

/// Whether the ranks are on several hosts, equally many on each, and more than one.
bool has_two_levels(const PointToPoint& p2p);

/// Whether my_allreduce() of num_bytes uses allreduce_two_level() in place of what choose_allreduce() names: where there
/// are two levels, from 16 KiB on. Below, its additional steps take longer than its bytes save.
bool prefers_two_levels(std::int64_t num_bytes, const PointToPoint& p2p);

/// my_reduce_scatter() inside each host; my_allreduce() of each part between the ranks that have it, one of each host;
/// my_allgather() inside each host.
/// Call      as my_allreduce(), and so are shapes, aliasing and what all ranks end with
/// Cost      that of the three, of n bytes on L ranks, n/L on H and n on L. With rings, 2(H-1)/H n leave a host in 2(H-1)
///           steps: as many bytes as with a ring of all ranks, which needs 2(HL-1)
/// Errors    ContractError: has_two_levels() is false; those of the three
/// Source    Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, sec. 3.3
at::Tensor allreduce_two_level(at::Tensor tensor, PointToPoint& p2p);

}  // namespace lab::a9
