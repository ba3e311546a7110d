#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/api/communicator.h"
#include "common/api/tensor_map.h"

// Communication that autograd understands. In the backward pass every rank takes part, in the same order: all ranks
// build the same graph and all call backward(). `comm` must live until then.
namespace lab::a9 {

/// f, on the input of a column-parallel layer. Forward: the identity. Backward: the sum of all ranks' gradients.
/// Call      local in the forward pass, collective in the backward pass
/// Aliasing  the incoming gradient is not changed: autograd forbids it
/// Source    Megatron-LM, arXiv:1909.08053, section 3, "f"
at::Tensor broadcast_parallel(const at::Tensor& x, Communicator& comm);

/// g, on the output of a row-parallel layer. Forward: the sum over all ranks. Backward: the identity.
/// Call      collective in the forward pass, local in the backward pass
/// Aliasing  x is not changed
/// Source    Megatron-LM, arXiv:1909.08053, section 3, "g"
at::Tensor reduce_parallel(const at::Tensor& x, Communicator& comm);

/// my_all_to_all in the forward pass; in the backward pass the all-to-all that sends every element back.
/// Call      collective in both passes
/// Shapes    as my_all_to_all
at::Tensor all_to_all_parallel(const at::Tensor& x, std::int64_t scatter_dim, std::int64_t gather_dim,
                               Communicator& comm);

/// After a backward pass through sequence shards: the whole gradient on every rank, the sum of what each rank's own
/// positions contributed. Not the mean: the ranks hold parts of one loss.
/// Call      collective, blocking, no autograd
/// Aliasing  changes .grad() of each parameter in place
/// Errors    ContractError: a parameter without a gradient, nothing sent yet
/// Example   P = 2, .grad() is [2] on rank 0 and [5] on rank 1: [7] on both
void sum_gradients(const TensorMap& parameters, Communicator& comm);

}  // namespace lab::a9
