#pragma once

#include <ATen/ATen.h>

#include "common/api/collectives.h"

// Beyond the handout: the other half of Megatron's pair.
namespace lab::a4 {

/// g: applied to the output of a row-parallel layer. Forward: the sum over all ranks. Backward: identity.
/// Call      collective in the forward pass; x is not modified
/// Source    Megatron-LM, arXiv:1909.08053, section 3, "g"
at::Tensor reduce_parallel(const at::Tensor& x, Collectives& collectives);

/// A linear layer whose weight is split by rows: each rank multiplies its columns of the input, and the products are
/// summed.
class RowParallelLinear {
 public:
  /// Keeps a copy of this rank's rows of the weight [in, out], of rank r of P r in/P to (r + 1) in/P - 1; every rank of
  /// the whole bias [out], if it is defined.
  /// Errors    ContractError: in is not divisible by the number of ranks (checked before your code)
  RowParallelLinear(const at::Tensor& weight, const at::Tensor& bias, Collectives& collectives);

  /// Shapes    x_shard [batch, in / P], this rank's columns; out [batch, out], the same on every rank
  /// Cost      one all_reduce in the forward pass, none in the backward pass
  at::Tensor forward(const at::Tensor& x_shard) const;

  at::Tensor W;     ///< [in / P, out], requires grad
  at::Tensor bias;  ///< [out], requires grad; undefined if there is none. Added once, after the sum.

 private:
  Collectives& collectives_;
};

/// relu(x @ W1) @ W2 with W1 split by columns and W2 by rows: the hidden activations never leave their rank.
/// Keeps copies of this rank's parts; x and the weights are not changed.
class ColumnRowPair {
 public:
  /// Errors    ContractError: the hidden size is not divisible by the number of ranks (checked before your code)
  ColumnRowPair(const at::Tensor& weight1, const at::Tensor& weight2, Collectives& collectives);

  /// Shapes    x [batch, in] and out [batch, out], the same on every rank
  /// Cost      one all_reduce in the forward pass, one in the backward pass (of the gradient of x)
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor W1;             ///< [in, hidden / P], requires grad
  RowParallelLinear second;  ///< holds W2's rows

 private:
  Collectives& collectives_;
};

}  // namespace lab::a4
