#pragma once

#include <cstdint>
#include <string>

#include "common/checks/case.h"

// What the Transformer's tasks may send. bytes_of_x: bytes of the whole input, all positions.
namespace lab::a9 {

/// Nothing at all.
CostBounds no_communication(const std::string& task);

/// Two all-reduces of x in each pass, the student's own (at most what the root of a gather and broadcast sends) or
/// built-in ones. Gathering whole weights back from their shards exceeds it.
CostBounds tensor_parallel_bounds(const std::string& task, std::uint64_t bytes_of_x, std::uint64_t num_passes);

/// There and back by my_all_to_all: at least a message to each peer each way (q, k and v may travel together), at most
/// four all-to-alls of a shard of x. From 4 ranks on, gathering keys and values on every rank exceeds it.
CostBounds ulysses_bounds(const std::string& task, std::uint64_t bytes_of_x);

/// The same minimum, in both passes; the cost of summing the weights' gradients is not bounded.
CostBounds ulysses_gradient_bounds(const std::string& task);

/// Tensor parallel and then Ulysses, and no built-in collective.
CostBounds design_bounds(const std::string& task, std::uint64_t bytes_of_x);

}  // namespace lab::a9
