#include <ATen/ATen.h>

#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/model/layers/blocks.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kInFeatures = 7;
constexpr std::int64_t kOutFeatures = 4;
constexpr std::int64_t kFeaturesPerRank = 6;  // features of each rank
constexpr std::int64_t kLayerRows = 5;        // of x
const std::vector<std::int64_t> kManyDims = {2, 3, kLayerRows};

at::Tensor serial_linear(const at::Tensor& x, const Tensors& tensors) {
  return at::linear(x, tensors[0], tensors[1]);
}

ShardedLayerFor column_layer(bool gather_output) {
  return [=](int size) {
    const std::int64_t features = kFeaturesPerRank * size;
    ShardedLayer layer;
    layer.names = kWeightAndBias;
    layer.splits = {{{features, kInFeatures}, 0}, {{features}, 0}};
    layer.x_shape = {kLayerRows, kInFeatures};
    layer.out_is_split = !gather_output;
    layer.serial = serial_linear;
    if (gather_output) layer.forward.all_gathers = {kLayerRows * features};
    layer.backward.all_reduces = {kLayerRows * kInFeatures};
    layer.numbers = {{"gather_output", gather_output ? 1 : 0}};
    layer.product_flops = 2 * kLayerRows * kInFeatures * features;
    layer.num_values = kLayerRows * features;
    layer.num_whole_values = kLayerRows * (kInFeatures + (gather_output ? features : 0));
    return layer;
  };
}

ShardedLayer row_layer(int size) {
  const std::int64_t features = kFeaturesPerRank * size;
  ShardedLayer layer;
  layer.names = kWeightAndBias;
  layer.splits = {{{kOutFeatures, features}, 1}, {{kOutFeatures}}};
  layer.x_shape = {kLayerRows, features};
  layer.x_is_split = true;
  layer.serial = serial_linear;
  layer.forward.all_reduces = {kLayerRows * kOutFeatures};
  layer.product_flops = 2 * kLayerRows * features * kOutFeatures;
  layer.num_values = kLayerRows * features;
  layer.num_whole_values = kLayerRows * kOutFeatures;
  return layer;
}

/// x with further leading dimensions, and correspondingly more values.
ShardedLayerFor with_many_dims(const ShardedLayerFor& layer_for) {
  return [=](int size) {
    ShardedLayer layer = layer_for(size);
    layer.x_shape = {kManyDims[0], kManyDims[1], kManyDims[2], layer.x_shape.back()};
    for (std::int64_t* count : {&layer.product_flops, &layer.num_values, &layer.num_whole_values})
      *count *= kManyDims[0] * kManyDims[1];
    for (Traffic* traffic : {&layer.forward, &layer.backward}) {
      for (std::int64_t& count : traffic->all_reduces) count *= kManyDims[0] * kManyDims[1];
      for (std::int64_t& count : traffic->all_gathers) count *= kManyDims[0] * kManyDims[1];
    }
    return layer;
  };
}

ShardedLayerFor norm_layer(double x_mean) {
  return [=](int size) {
    const std::int64_t features = kFeaturesPerRank * size;
    ShardedLayer layer;
    layer.names = kWeightAndBias;
    layer.splits = {{{features}, 0}, {{features}, 0}};
    layer.x_shape = {kLayerRows, features};
    layer.x_is_split = layer.out_is_split = true;
    layer.x_mean = x_mean;
    layer.serial = [](const at::Tensor& x, const Tensors& tensors) {
      return at::layer_norm(x, {x.size(-1)}, tensors[0], tensors[1], kNormEpsilon);
    };
    layer.forward.all_reduces = layer.backward.all_reduces = {kLayerRows, kLayerRows};
    layer.may_send_less = true;
    return layer;
  };
}

/// A mean so large that E[x^2] - E[x]^2 has no digit left; the squared distances lose those of the mean only.
Case large_mean_case() {
  Case result = forward_case("optC.parallel_layer_norm", "LayerNormLargeMean", norm_layer(1e7));
  result.tolerance.rtol = result.tolerance.atol = 1e-6;
  return result;
}

}  // namespace

std::vector<Case> linear_cases() {
  const std::string column = "optC.column_linear", row = "optC.row_linear";
  return {forward_case(column, "ColumnLinear", column_layer(false)),
          gradient_case(column, "ColumnLinearGradient", column_layer(false)),
          forward_case(column, "ColumnLinearGathered", with_many_dims(column_layer(true))),
          gradient_case(column, "ColumnLinearGatheredGradient", with_many_dims(column_layer(true))),
          forward_case(row, "RowLinear", row_layer),
          gradient_case(row, "RowLinearGradient", with_many_dims(row_layer))};
}

std::vector<Case> norm_cases() {
  const std::string task = "optC.parallel_layer_norm";
  return {forward_case(task, "LayerNorm", with_many_dims(norm_layer(0))), large_mean_case(),
          gradient_case(task, "LayerNormGradient", norm_layer(0))};
}

}  // namespace lab::optc
