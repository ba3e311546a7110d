#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/api/collectives.h"
#include "optC_model_parallel/model/blocks.h"

// Layers whose weights are split over ranks. x and out are whole, and the same on every rank, unless called a shard.
// Collective, differentiable; gradients of x, of shards, and of whole tensors are those of the serial layer.
namespace lab::optc {

/// optC.column_linear. A linear layer of which every rank has some neurons. With `gather_output` every rank gets all
/// outputs, otherwise only its own.
/// Shapes    x [..., D], weight shard [H / P, D], bias shard [H / P]; out [..., H], or shard [..., H / P]
/// Cost      backward: an all-reduce of x's gradient; with gather_output, forward: an all-gather of out
at::Tensor column_parallel_linear(const at::Tensor& x, const at::Tensor& weight_shard, const at::Tensor& bias_shard,
                                  bool gather_output, Collectives& comm);

/// optC.row_linear. A linear layer of which every rank has some inputs. The bias is added once.
/// Shapes    x shard [..., H / P], weight shard [E, H / P], bias [E] whole; out [..., E]
/// Cost      forward: an all-reduce of out
at::Tensor row_parallel_linear(const at::Tensor& x_shard, const at::Tensor& weight_shard, const at::Tensor& bias,
                               Collectives& comm);

/// optC.parallel_mlp. Blocks::mlp on shards, in the order of Blocks (model/blocks.h): a column-parallel layer feeds a
/// row-parallel one.
/// Cost      exactly one all-reduce forward, of out, and one backward, of x's gradient
at::Tensor parallel_mlp(const at::Tensor& x, const Tensors& shards, Collectives& comm);

/// optC.parallel_layer_norm. LayerNorm over all H features when every rank has some of them, with kNormEpsilon under
/// the root as in at::layer_norm.
/// Shapes    x shard [..., H / P], weight and bias shards [H / P]; out shard [..., H / P]
/// Cost      two all-reduces forward (the sum; then the sum of squared distances from the mean), two backward
at::Tensor parallel_layer_norm(const at::Tensor& x_shard, const at::Tensor& weight_shard, const at::Tensor& bias_shard,
                               Collectives& comm);

/// optC.parallel_norm_mlp. Blocks::norm_mlp on shards.
/// Cost      three all-reduces forward, three backward
at::Tensor parallel_norm_mlp(const at::Tensor& x, const Tensors& shards, Collectives& comm);

/// optC.parallel_attention. Blocks::attention on shards: every rank has some whole heads.
/// Cost      exactly one all-reduce forward and one backward
/// Errors    ContractError: the shard of q's weight does not hold whole heads; hint: the number of heads must be
///           divisible by the number of ranks (checked before your code)
at::Tensor parallel_attention(const at::Tensor& x, const Tensors& shards, std::int64_t head_dim, Collectives& comm);

/// optC.parallel_residual. Blocks::residual on shards: every rank has some channels of the middle. A BatchNorm's
/// statistics are per channel, so each rank keeps those of its own channels.
/// Cost      exactly one all-reduce forward and one backward
at::Tensor parallel_residual(const at::Tensor& x, const Tensors& shards, Mode mode, Collectives& comm);

/// All parallel blocks.
Blocks parallel_blocks(Collectives& comm);

}  // namespace lab::optc
