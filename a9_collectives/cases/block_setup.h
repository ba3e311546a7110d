#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "a9_collectives/transformer.h"
#include "common/api/tensor_map.h"
#include "common/checks/case.h"

// What the Transformer's tasks may send and compute.
namespace lab::a9 {

/// Nothing at all.
CostBounds no_communication(const std::string& task);

/// What a task must bring from rank to rank.
struct Traffic {
  std::uint64_t bytes_summed = 0;     ///< of all tensors that are summed over the ranks, on one rank
  std::uint64_t bytes_exchanged = 0;  ///< that each rank has for the others, and they for it, in all-to-alls
  std::uint64_t most_exchanged = 0;   ///< that it sends for them if its all-to-alls are Bruck's, who forwards others'
};
using TrafficOf = std::function<Traffic(int size)>;

/// All-to-alls in which each rank has a chunk for each other rank.
Traffic all_to_all_traffic(std::uint64_t num_exchanges, std::uint64_t chunk_bytes, int size);

/// Two sums of x in each pass. bytes_of_x: of the whole input, all positions.
Traffic tensor_parallel_traffic(std::uint64_t bytes_of_x, std::uint64_t num_passes);

/// Four all-to-alls of a shard of x in each pass: q, k and v there and the context back. From 3 ranks on, gathering keys
/// and values on every rank takes more, whatever the algorithm.
Traffic ulysses_traffic(std::uint64_t bytes_of_x, std::uint64_t num_passes, int size);

/// The all-to-alls by the task's own messages. The sums by its own, too, or by the built-in all_reduce, by its halves
/// reduce_scatter and all_gather, or by an all_gather of all summands. No other built-in that carries data: a barrier is
/// free.
///   received   at least what is summed and exchanged: the result cannot arrive with less
///   sent       at most one's summand to each other rank, which is also what the root of a gather and broadcast sends,
///              and what is exchanged
///   besides    a few numbers for each other rank, such as the length of a shard, also by all_gather or all_reduce: the
///              handout lets these two help
CostBounds sums_by_any_means(const std::string& task, const TrafficOf& bound_traffic);

/// The same, all by the task's own messages, and without a built-in collective, not even a barrier.
CostBounds own_collectives(const std::string& task, const TrafficOf& bound_traffic);

/// The sizes that a block's work follows from: b s positions of width d, h heads, f wide inside.
struct BlockSizes {
  TransformerOptions options;
  std::int64_t batch = 1, sequence = 1;
};
using BlockSizesOf = std::function<BlockSizes(int size)>;

/// What a rank may compute of `num_blocks` forward passes (a backward pass counts as two):
///   products      (2 b s (4 d^2 + 2 d f) + 4 b s^2 d) / P       projections, the two linear layers, attention
///   per element   24 b s d + 8 b h s^2 + 3 b s f                norms, softmax, biases and sums, perhaps on every rank
///   its own sums  2 (P-1) b s d                                 as the root of two all-reduces
std::function<ShareBound(const CasePlace&)> block_work(const BlockSizesOf& list_sizes, std::int64_t num_blocks);

/// The same for forward and backward, after which the root of an all-reduce sums the weights' gradients as well.
std::function<ShareBound(const CasePlace&)> block_and_gradient_work(const BlockSizesOf& list_sizes);

}  // namespace lab::a9

// Sizes, weights and inputs of the Transformer's cases, and what they have in common.
namespace lab::a9 {

struct Setup {
  TransformerOptions options;
  std::int64_t batch = 2;
  std::int64_t sequence = 5;
  at::ScalarType dtype = at::kFloat;
};

/// What a case is run with, by the number of ranks.
using SetupOf = std::function<Setup(int size)>;

// The handout's: the same on any number of ranks.
Setup tensor_parallel_setup(int size);
Setup ulysses_setup(int size);

// Two heads on each rank, so that any number of ranks will do, in float64 with a tolerance of 1e-12. The widths are none
// of the handout's, nor is one a multiple of the other. On an odd number of ranks a batch of 1.
Setup further_tensor_parallel_setup(int size);
Setup further_ulysses_setup(int size);

/// What the ranks have parts of.
enum class Split { kWeights, kSequence };

/// The rank's part of a tensor that is split along `dim`.
at::Tensor take_part(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place);

/// The same on every rank.
struct BlockData {
  TensorMap weights;
  at::Tensor x, grad_out;
};
BlockData make_data(const Setup& setup, std::uint64_t seed);

/// The whole weights and sizes.
CaseInputs weight_inputs(const Setup& setup, const BlockData& data);

/// Those, "input.x" or "input.x_shard", and "input.grad_out" if there is a backward pass.
CaseInputs split_inputs(const Setup& setup, Split split, bool with_gradient, const CasePlace& place);

/// This rank's rows of the column-parallel weights (or their gradients), its columns of the row-parallel ones.
TensorMap take_shards(const TensorMap& whole, const CasePlace& place);

/// A case that runs where the number of ranks divides the heads.
Case block_case(const std::string& task, const std::string& name, const SetupOf& choose_setup);

/// What `num_passes` passes through the block must bring from rank to rank.
Traffic bound_traffic(const Setup& setup, Split split, std::uint64_t num_passes, int size);

/// Of all weights together.
std::uint64_t bytes_of_weights(const Setup& setup);

BlockSizesOf list_sizes(const SetupOf& choose_setup);

}  // namespace lab::a9
