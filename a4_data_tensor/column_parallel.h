#pragma once

#include "a4_data_tensor/step.h"
#include "common/api/collectives.h"

namespace lab::a4 {

/// A linear layer whose weight is split by columns: each rank computes its columns of the output, then they are
/// gathered.
class FullColumnParallelLinear {
 public:
  /// Keeps a copy of this rank's columns of the weight [in, out] and, if it is defined, of the bias [out]: of rank r of
  /// P, r out/P to (r + 1) out/P - 1.
  /// Errors    ContractError: out is not divisible by the number of ranks (checked before your code)
  FullColumnParallelLinear(const at::Tensor& weight, const at::Tensor& bias, Collectives& collectives);

  /// X @ weight + bias, the same output on every rank; gradients flow to X, W and bias.
  /// Call      collective, blocking, differentiable
  /// Shapes    X [batch, in], the same on every rank; out [batch, out]
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor W;     ///< [in, out / P], requires grad
  at::Tensor bias;  ///< [out / P], requires grad; undefined if there is none

 private:
  Collectives& collectives_;
};

/// The training step with the weight split by columns over the ranks, as in the layer.
/// Call      collective, blocking, autograd inside
/// Returns   the whole updated weight [input_dim, output_dim] on every rank, detached
/// Errors    ContractError: output_dim is not divisible by the number of ranks (checked before your code)
at::Tensor full_column_parallel_single_step(const StepOptions& options, Collectives& collectives);

}  // namespace lab::a4
