#pragma once

#include <vector>

#include "common/api/partition.h"

namespace lab::optc {

/// optC.split_layers. Consecutive layers for each stage so that the most expensive stage is as cheap as possible: the
/// pipeline is as fast as its slowest stage. Every stage has at least one layer, and every layer is in exactly one
/// stage, in order. Every rank gets the same result.
/// Call      local
/// Errors    ContractError: more stages than layers (checked before your code)
/// Source    PipeDream, arXiv:1806.03377, section 3.1, without replication
/// Example   costs 4 1 1 1 1 on 2 stages: [0, 1) and [1, 5)
std::vector<Slice> split_layers(const std::vector<double>& costs, int num_stages);

}  // namespace lab::optc
