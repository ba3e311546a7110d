#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optC_model_parallel/model/model.h"

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

// The layers that several models are made of.

/// NAME.weight [out, in] or [out, in, kernel, kernel] and NAME.bias [out].
std::vector<ParameterSpec> weight_and_bias(const std::string& name, const std::vector<std::int64_t>& shape,
                                           Fill fill = Fill::kUniform);

/// NAME.weight [width], ones, and NAME.bias [width], zeros.
std::vector<ParameterSpec> norm_parameters(const std::string& name, std::int64_t width);

/// The same, split over ranks by their first dimension, in units of `unit` rows.
std::vector<ParameterSpec> split_by_rows(std::vector<ParameterSpec> parameters, std::int64_t unit = 1);

/// The same, with weights split over ranks by their second dimension; biases stay whole.
std::vector<ParameterSpec> split_by_columns(std::vector<ParameterSpec> parameters);

/// All parts, concatenated.
std::vector<ParameterSpec> joined(std::vector<std::vector<ParameterSpec>> parts);

struct ConvolutionOptions {
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 1;
  std::int64_t kernel = 3;
  std::int64_t in_side = 32;
  std::int64_t padding = 0;
  std::int64_t stride = 1;
  bool pool = false;  ///< 2 x 2 max-pool
  Fill fill = Fill::kUniform;
};

/// Convolution, relu, and optionally a pool. x [B, in_channels, in_side, in_side]
LayerSpec convolution_layer(const std::string& name, const ConvolutionOptions& options);

enum class Activation { kRelu, kNone };

/// x [B, ...] with `in` values per image -> [B, out]
LayerSpec linear_layer(const std::string& name, std::int64_t in, std::int64_t out,
                       Activation activation = Activation::kRelu, Fill fill = Fill::kUniform);

}  // namespace lab::optc
