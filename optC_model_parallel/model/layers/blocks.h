#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "optC_model_parallel/model.h"

namespace lab::optc {

/// The parts of a model that tensor parallelism splits. A model consists of these and of layers that every rank runs
/// whole: with the parallel blocks, the same model is parallel. Tensors come in the order given here; a block's
/// parallel version takes shards of those with a dim, and x and its result are the same on every rank.
struct Blocks {
  /// linear, relu, linear. x [..., D] -> [..., E]
  /// fc_in.weight [H, D] dim 0, fc_in.bias [H] dim 0, fc_out.weight [E, H] dim 1, fc_out.bias [E] whole
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)> mlp;

  /// linear, LayerNorm over H, relu, linear.
  /// fc_in.weight, fc_in.bias, norm.weight [H] dim 0, norm.bias [H] dim 0, fc_out.weight, fc_out.bias
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)> norm_mlp;

  /// Self-attention with several heads, no mask, scaled by 1 / sqrt(head_dim). x [B, S, D] -> [B, S, D]
  /// q.weight, k.weight, v.weight [D, D] dim 0 each, q.bias, k.bias, v.bias [D] dim 0 each, o.weight [D, D] dim 1,
  /// o.bias [D] whole: q k v weights first, then their biases, then o's
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors, std::int64_t head_dim)> attention;

  /// What a residual block adds to its input: conv 3x3, BatchNorm, relu, conv 3x3. x [B, C, H, W] -> [B, C, H, W]
  /// conv_in.weight [M, C, 3, 3] dim 0, norm.weight, norm.bias, norm.running_mean, norm.running_var [M] dim 0 each,
  /// conv_out.weight [C, M, 3, 3] dim 1, conv_out.bias [C] whole
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors, Mode mode)> residual;
};

constexpr double kNormEpsilon = 1e-5;
constexpr double kBatchNormMomentum = 0.1;  ///< of the running statistics, as nn::BatchNorm2d

/// The blocks in one process.
Blocks serial_blocks();

}  // namespace lab::optc
