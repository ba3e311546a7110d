#pragma once

#include <cstdint>
#include <string>

#include "a9_collectives/transformer.h"
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

/// The sizes that a block's work follows from: b s positions of width d, h heads, f wide inside.
struct BlockSizes {
  TransformerOptions options;
  std::int64_t batch = 1, sequence = 1;
};

/// What a rank may compute of `num_blocks` forward passes (a backward pass counts as two):
///   products      (2 b s (4 d^2 + 2 d f) + 4 b s^2 d) / P       projections, the two linear layers, attention
///   per element   24 b s d + 8 b h s^2 + 3 b s f                norms, softmax, biases and sums, perhaps on every rank
///   its own sums  2 (P-1) b s d                                 as the root of two all-reduces
std::function<ShareBound(const CasePlace&)> block_work(const BlockSizes& sizes, std::int64_t num_blocks);

/// The same for forward and backward, after which the root of an all-reduce sums the weights' gradients as well.
std::function<ShareBound(const CasePlace&)> block_and_gradient_work(const BlockSizes& sizes);

}  // namespace lab::a9
