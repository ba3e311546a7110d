#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/model/blocks.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kBlockBatch = 3;
constexpr std::int64_t kBlockTokens = 5;
constexpr std::int64_t kBlockDim = 7;
constexpr std::int64_t kBlockOutDim = 4;
constexpr std::int64_t kHiddenPerRank = 6;

ShardedLayer mlp_layer(int size) {
  const std::int64_t hidden = kHiddenPerRank * size;
  ShardedLayer layer;
  layer.names = kMlpTensors;
  layer.splits = {{{hidden, kBlockDim}, 0}, {{hidden}, 0}, {{kBlockOutDim, hidden}, 1}, {{kBlockOutDim}}};
  layer.x_shape = {kBlockBatch, kBlockTokens, kBlockDim};
  layer.serial = serial_blocks().mlp;
  layer.forward.all_reduces = {kBlockBatch * kBlockTokens * kBlockOutDim};
  layer.backward.all_reduces = {kBlockBatch * kBlockTokens * kBlockDim};
  constexpr std::int64_t rows = kBlockBatch * kBlockTokens;
  layer.product_flops = 2 * rows * hidden * (kBlockDim + kBlockOutDim);
  layer.num_values = 2 * rows * hidden;
  layer.num_hidden = rows * hidden;
  layer.num_whole_values = rows * (kBlockDim + kBlockOutDim);
  return layer;
}

ShardedLayer norm_mlp_layer(int size) {
  ShardedLayer layer = mlp_layer(size);
  const std::int64_t hidden = kHiddenPerRank * size;
  layer.names = kNormMlpTensors;
  layer.splits.insert(layer.splits.begin() + 2, 2, {{hidden}, 0});
  layer.serial = serial_blocks().norm_mlp;
  for (Traffic* traffic : {&layer.forward, &layer.backward})
    traffic->all_reduces.insert(traffic->all_reduces.end(), 2, kBlockBatch * kBlockTokens);
  layer.sends = ShardedLayer::Sends::kAtMost;
  layer.num_values += 4 * kBlockBatch * kBlockTokens * hidden;
  layer.num_hidden += 2 * hidden;  // with the norm's weight and bias
  return layer;
}

/// Two heads on each rank, so that mixed-up heads are seen both across ranks and within one.
ShardedLayer attention_layer(int size) {
  constexpr std::int64_t head_dim = 3;
  const std::int64_t width = 2 * head_dim * size;
  const Split rows = {{width, width}, 0, head_dim}, bias = {{width}, 0, head_dim};
  ShardedLayer layer;
  layer.names = kAttentionTensors;
  layer.splits = {rows, rows, rows, bias, bias, bias, {{width, width}, 1, head_dim}, {{width}}};
  layer.x_shape = {kBlockBatch, kBlockTokens, width};
  layer.serial = [](const at::Tensor& x, const Tensors& tensors) {
    return serial_blocks().attention(x, tensors, head_dim);
  };
  layer.forward.all_reduces = layer.backward.all_reduces = {kBlockBatch * kBlockTokens * width};
  layer.numbers = {{"head_dim", head_dim}};
  constexpr std::int64_t num_rows = kBlockBatch * kBlockTokens;
  const std::int64_t scores = num_rows * kBlockTokens * (width / head_dim);
  layer.product_flops = 4 * 2 * num_rows * width * width + 2 * 2 * scores * head_dim;
  layer.num_values = 4 * num_rows * width + 2 * scores;
  layer.num_whole_values = 2 * num_rows * width;
  return layer;
}

ShardedLayerFor residual_layer(Mode mode) {
  return [=](int size) {
    constexpr std::int64_t channels = 4, side = 5, per_rank = 2;
    const std::int64_t middle = per_rank * size;
    ShardedLayer layer;
    layer.names = kResidualTensors;
    layer.splits = {{{middle, channels, 3, 3}, 0}, {{middle}, 0}, {{middle}, 0}, {{middle}, 0}, {{middle}, 0},
                    {{channels, middle, 3, 3}, 1}, {{channels}}};
    layer.x_shape = {kBlockBatch, channels, side, side};
    layer.serial = [=](const at::Tensor& x, const Tensors& tensors) {
      return serial_blocks().residual(x, tensors, mode);
    };
    layer.forward.all_reduces = layer.backward.all_reduces = {kBlockBatch * channels * side * side};
    constexpr std::int64_t pixels = kBlockBatch * side * side;
    layer.product_flops = 2 * 2 * pixels * 9 * channels * middle;
    layer.num_values = 5 * pixels * middle;
    layer.num_whole_values = 2 * pixels * channels;
    layer.bounds_memory = false;  // the workspaces of convolutions
    layer.numbers = {{"training", mode == Mode::kTraining ? 1 : 0}};
    return layer;
  };
}

/// The same, in which ranks may also gather what they could keep to themselves.
ShardedLayerFor generous(const ShardedLayerFor& layer_for) {
  return [=](int size) {
    ShardedLayer layer = layer_for(size);
    layer.sends = ShardedLayer::Sends::kGenerously;
    return layer;
  };
}

constexpr LayerData kFloat32{at::kFloat}, kExactFloat32{at::kFloat, true};

}  // namespace

std::vector<Case> mlp_cases() {
  const std::string task = "optC.parallel_mlp";
  return {forward_case(task, "ParallelMlp", generous(mlp_layer)),
          gradient_case(task, "ParallelMlpGradient", generous(mlp_layer))};
}

std::vector<Case> norm_mlp_cases() {
  const std::string task = "optC.parallel_norm_mlp";
  return {forward_case(task, "ParallelNormMlp", generous(norm_mlp_layer)),
          gradient_case(task, "ParallelNormMlpGradient", generous(norm_mlp_layer))};
}

std::vector<Case> column_row_cases() {
  const std::string task = "optC.column_row";
  return {forward_case(task, "ColumnRow", mlp_layer), gradient_case(task, "ColumnRowGradient", mlp_layer),
          forward_case(task, "ColumnRowNorm", norm_mlp_layer),
          gradient_case(task, "ColumnRowNormGradient", norm_mlp_layer)};
}

std::vector<Case> attention_cases() {
  const std::string task = "optC.parallel_attention";
  return {forward_case(task, "ParallelAttention", attention_layer),
          gradient_case(task, "ParallelAttentionGradient", attention_layer)};
}

std::vector<Case> residual_cases() {
  const std::string task = "optC.parallel_residual";
  return {forward_case(task, "ParallelResidual", residual_layer(Mode::kTraining)),
          gradient_case(task, "ParallelResidualGradient", residual_layer(Mode::kTraining)),
          forward_case(task, "ParallelResidualEvaluation", residual_layer(Mode::kEvaluation)),
          gradient_case(task, "ParallelResidualEvaluationGradient", residual_layer(Mode::kEvaluation))};
}

/// A mean of k adds the same to all scores of a row, which changes no probability, but the scores' powers overflow.
ShardedLayer large_score_layer(int size) {
  ShardedLayer layer = attention_layer(size);
  layer.means = {{"k.bias", 30}};
  return layer;
}

/// Softmax makes an absolute error of a score a relative one of its probability. Scores of up to 500 have rounding
/// errors of up to 3e-5 each; a gradient adds up 15 rows of products with values of about 6: about 3e-3 at worst.
Case attention_float32_case() {
  Case result = gradient_case("optC.parallel_attention", "ParallelAttentionFloat32", large_score_layer, kFloat32);
  result.tolerance.rtol = result.tolerance.atol = 4e-3;
  return result;
}

std::vector<Case> block_float32_cases() {
  // Where relu's input is rounded, only the forward pass is compared: its derivative jumps at 0.
  return {gradient_case("optC.parallel_mlp", "ParallelMlpFloat32", generous(mlp_layer), kExactFloat32),
          forward_case("optC.parallel_norm_mlp", "ParallelNormMlpFloat32", generous(norm_mlp_layer), kFloat32),
          gradient_case("optC.column_row", "ColumnRowFloat32", mlp_layer, kExactFloat32), attention_float32_case(),
          forward_case("optC.parallel_residual", "ParallelResidualFloat32", residual_layer(Mode::kTraining), kFloat32)};
}

}  // namespace lab::optc
