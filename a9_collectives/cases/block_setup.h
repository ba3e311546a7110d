#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "a9_collectives/cases/transformer_bounds.h"
#include "a9_collectives/transformer.h"
#include "common/checks/case.h"
#include "common/tensor/tensor_map.h"

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
// of the handout's, nor is one a multiple of the other.
Setup further_tensor_parallel_setup(int size);
Setup further_ulysses_setup(int size);

/// What the ranks have parts of.
enum class Split { kWeights, kSequence };

/// The rank's part of a tensor that is split along `dim`.
at::Tensor part_of(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place);

/// The same on every rank.
struct BlockData {
  TensorMap weights;
  at::Tensor x, grad_out;
};
BlockData data_of(const Setup& setup, std::uint64_t seed);

/// The whole weights and sizes.
CaseInputs weight_inputs(const Setup& setup, const BlockData& data);

/// Those, "input.x" or "input.x_shard", and "input.grad_out" if there is a backward pass.
CaseInputs split_inputs(const Setup& setup, Split split, bool with_gradient, const CasePlace& place);

/// This rank's rows of the column-parallel weights (or their gradients), its columns of the row-parallel ones.
TensorMap shards_of(const TensorMap& whole, const CasePlace& place);

/// A case that runs where the number of ranks divides the heads.
Case block_case(const std::string& task, const std::string& name, const SetupOf& setup_of);

/// What `num_passes` passes through the block must bring from rank to rank.
Traffic traffic_of(const Setup& setup, Split split, std::uint64_t num_passes, int size);

/// Of all weights together.
std::uint64_t bytes_of_weights(const Setup& setup);

BlockSizesOf sizes_of(const SetupOf& setup_of);

}  // namespace lab::a9
