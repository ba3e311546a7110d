#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/api/communicator.h"
#include "common/api/tensor_map.h"

// Shapes: B batch, S sequence, D d_model, F d_ff, H num_heads, K = D / H, P ranks. A weight is [out, in], as in
// nn.Linear.
namespace lab::a9 {

struct TransformerOptions {
  std::int64_t d_model = 32;
  std::int64_t num_heads = 4;
  std::int64_t d_ff = 64;
};

/// The weights of a new block by their names below, initialised like those of nn::Linear and nn::LayerNorm.
TensorMap initial_weights(const TransformerOptions& options, std::uint64_t seed, at::ScalarType dtype = at::kFloat);

/// A Transformer encoder block (pre-LN, ReLU, no mask, no dropout) in three versions: on one rank, with its weights
/// split over the ranks, and with its sequence split over the ranks.
class BasicTransformerBlock {
 public:
  /// Keeps a copy of each weight.
  /// Errors    ContractError: num_heads does not divide d_model; a weight is missing, unknown or has another shape
  BasicTransformerBlock(const TransformerOptions& options, const TensorMap& weights);

  /// x + O(attention(Q, K, V)) of LN1(x), then the same of FC2(relu(FC1)) of LN2: the reference for the other two.
  /// Call      local, differentiable
  /// Shapes    x [B, S, D], out the same
  at::Tensor forward(const at::Tensor& x) const;

  /// Cuts this rank's shards out of the whole weights. Each is a separate tensor that requires a gradient and does not
  /// change with the whole weight.
  /// Call      local: every rank has the whole weights
  /// Errors    ContractError: H or F does not divide by P
  void init_tensor_parallel_shards(Communicator& comm);

  /// The same as forward(x), using only the shards, LayerNorms and fc2_bias.
  /// Call      collective, blocking; differentiable if it communicates by broadcast_parallel and reduce_parallel:
  ///           then x, LayerNorms and fc2_bias get the serial gradient on every rank, a shard its part of it
  /// Shapes    x and out [B, S, D], the same on every rank
  /// Cost      2 all-reduces of B*S*D elements forward, 2 backward
  /// Errors    ContractError, nothing sent yet: no shards for this number of ranks; x is not [B, S, D]
  /// Source    Megatron-LM, arXiv:1909.08053, section 3
  at::Tensor forward_tensor_parallel(const at::Tensor& x, Communicator& comm) const;

  /// This rank's part of forward(x), from its part of x. Every rank has the whole weights.
  /// Call      collective, blocking; differentiable if it communicates by all_to_all_parallel: then x_shard gets its
  ///           part of the serial gradient, and the weights' gradients add up to the serial ones over the ranks
  /// Shapes    x_shard and out [B, S/P, D]; rank r holds positions r*S/P to (r+1)*S/P - 1
  /// Cost      4 all-to-alls of B*S/P*D elements forward, 4 backward
  /// Errors    ContractError: H does not divide by P, or x_shard is not [B, S/P, D], nothing sent yet; shards of
  ///           different lengths, detected before the bytes of that message are written
  /// Source    DeepSpeed-Ulysses, arXiv:2309.14509, section 3
  at::Tensor forward_ulysses(const at::Tensor& x_shard, Communicator& comm) const;

  const TransformerOptions& options() const { return options_; }
  /// All 12 weights by name. The map shares their memory: changing one in place changes the block.
  TensorMap weights() const;
  /// All 7 shards by name, shared likewise; undefined before init_tensor_parallel_shards().
  TensorMap shards() const;

  // All require gradients.
  at::Tensor ln1_weight, ln1_bias;            ///< [D]
  at::Tensor q_proj, k_proj, v_proj, o_proj;  ///< [D, D]; head h is rows h*K to (h+1)*K - 1 of q, k and v
  at::Tensor ln2_weight, ln2_bias;            ///< [D]
  at::Tensor fc1, fc1_bias;                   ///< [F, D], [F]
  at::Tensor fc2, fc2_bias;                   ///< [D, F], [D]

  at::Tensor q_proj_shard, k_proj_shard, v_proj_shard;  ///< [D/P, D]: column-parallel, rows of the weight
  at::Tensor o_proj_shard;                              ///< [D, D/P]: row-parallel, columns of the weight
  at::Tensor fc1_shard, fc1_bias_shard;                 ///< [F/P, D], [F/P]: column-parallel
  at::Tensor fc2_shard;                                 ///< [D, F/P]: row-parallel

 private:
  void require_even_heads(const Communicator& comm) const;
  void require_shards(const Communicator& comm) const;

  TransformerOptions options_;
};

/// LayerNorm over the last dimension, eps 1e-5.
at::Tensor normalize(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// [B, S, heads*K] -> [B, S, heads, K], and back.
at::Tensor split_heads(const at::Tensor& x, std::int64_t num_heads);
at::Tensor merge_heads(const at::Tensor& x);

/// softmax(q k^T / sqrt(K)) v, separately for each head; every position attends to all positions.
/// Shapes    q, k, v and out [B, S, heads, K], for any number of heads; out may be non-contiguous
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace lab::a9
