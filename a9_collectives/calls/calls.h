#pragma once

#include "a9_collectives/transformer.h"
#include "common/rank/task_call.h"

namespace lab::a9 {

/// Task id -> student function.
CallTable calls();

/// Where a collective leaves its result, by its contract.
enum class Place {
  kInPlace,       ///< in its argument, which it returns
  kNew,           ///< in a tensor of its own; the argument is only read
  kNewContiguous  ///< the same, and contiguous
};

/// A collective's results: "out", which it has returned, and "x", its argument afterwards.
/// Errors    ResultError: `out` is defined and not where the contract says
TensorMap collect_results(const at::Tensor& x, const at::Tensor& out, Place place);

/// The case's tensor with the strides and the storage that the case asks for.
at::Tensor case_tensor(const CaseInputs& inputs);

/// The block that a case describes with its numbers and "weight." tensors.
BasicTransformerBlock make_block(const CaseInputs& inputs);

/// Makes the whole weights that the block has shards of unusable: reading one gives NaN.
void poison_sharded_weights(const BasicTransformerBlock& block);

// The results of a forward pass: "out", and its input and weights afterwards, by their names: all must be unchanged.
TensorMap tensor_parallel_results(const BasicTransformerBlock& block, const CaseInputs& inputs, const at::Tensor& out);
TensorMap ulysses_results(const BasicTransformerBlock& block, const CaseInputs& inputs, const at::Tensor& out);

/// Adds the gradients of all parameters to the results as "<name>.grad"; undefined where none arrived.
void add_gradients(const TensorMap& parameters, TensorMap& results);

}  // namespace lab::a9
