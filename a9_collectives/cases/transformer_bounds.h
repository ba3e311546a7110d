#pragma once

#include <cstdint>
#include <string>

#include "common/checks/case.h"

// What the transformer's tasks may send. bytes_of_x: of the whole input, all positions.
namespace lab::a9 {

/// Nothing at all.
CostBounds no_communication(const std::string& task);

/// Two all-reduces of x in each pass, own ones (as a root sends that gathers and broadcasts) or built-in ones. Whole
/// weights, gathered back from their shards, are beyond it.
CostBounds tensor_parallel_bounds(const std::string& task, std::uint64_t bytes_of_x, std::uint64_t num_passes);

/// There and back by my_all_to_all: at least a message to each peer each way (q, k and v may travel together), at most
/// four all-to-alls of a shard of x. From 4 ranks on, keys and values gathered on every rank are beyond it.
CostBounds ulysses_bounds(const std::string& task, std::uint64_t bytes_of_x);

/// The same at least, in both passes; the sums of the weights' gradients may cost what they will.
CostBounds ulysses_gradient_bounds(const std::string& task);

/// Tensor parallel and Ulysses one after the other, and no built-in collective.
CostBounds design_bounds(const std::string& task, std::uint64_t bytes_of_x);

}  // namespace lab::a9
