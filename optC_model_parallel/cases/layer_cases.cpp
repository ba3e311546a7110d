#include <ATen/ATen.h>

#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/model/blocks.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kFeaturesPerRank = 6;
constexpr std::int64_t kLayerRows = 5;  // of x
const std::vector<std::int64_t> kManyDims = {2, 3, kLayerRows};

at::Tensor serial_linear(const at::Tensor& x, const Tensors& tensors) {
  return at::linear(x, tensors[0], tensors[1]);
}

/// The sizes of a linear layer.
struct LinearSizes {
  std::int64_t rows = 5;            ///< of x
  std::int64_t in = 7, out = 4;     ///< features that are not split
  std::int64_t split_per_rank = 6;  ///< those that are
};

/// Weights that outweigh what goes through them by far: one row.
constexpr LinearSizes kWide{1, 64, 64, 64};

ShardedLayerFor column_layer(bool gather_output, const LinearSizes& sizes = {}) {
  return [=](int size) {
    const std::int64_t features = sizes.split_per_rank * size;
    ShardedLayer layer;
    layer.names = kWeightAndBias;
    layer.splits = {{{features, sizes.in}, 0}, {{features}, 0}};
    layer.x_shape = {sizes.rows, sizes.in};
    layer.out_is_split = !gather_output;
    layer.serial = serial_linear;
    if (gather_output) layer.forward.all_gathers = {sizes.rows * features};
    layer.backward.all_reduces = {sizes.rows * sizes.in};
    layer.numbers = {{"gather_output", gather_output ? 1 : 0}};
    layer.product_flops = 2 * sizes.rows * sizes.in * features;
    layer.num_values = sizes.rows * features;
    layer.num_whole_values = sizes.rows * (sizes.in + (gather_output ? features : 0));
    return layer;
  };
}

ShardedLayerFor row_layer(const LinearSizes& sizes = {}) {
  return [=](int size) {
    const std::int64_t features = sizes.split_per_rank * size;
    ShardedLayer layer;
    layer.names = kWeightAndBias;
    layer.splits = {{{sizes.out, features}, 1}, {{sizes.out}}};
    layer.x_shape = {sizes.rows, features};
    layer.x_is_split = true;
    layer.serial = serial_linear;
    layer.forward.all_reduces = {sizes.rows * sizes.out};
    layer.product_flops = 2 * sizes.rows * features * sizes.out;
    layer.num_values = sizes.rows * features;
    layer.num_whole_values = sizes.rows * sizes.out;
    return layer;
  };
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

/// x of one dimension.
ShardedLayerFor with_one_dim(const ShardedLayerFor& layer_for) {
  return [=](int size) {
    ShardedLayer layer = layer_for(size);
    layer.x_shape = {layer.x_shape.back()};
    return layer;
  };
}

/// With a second layer on the same x, of the first four of each rank's neurons: gathers of two widths.
ShardedLayerFor column_layers(const LinearSizes& sizes = {}) {
  return [=](int size) {
    const ShardedLayer more = column_layer(true, {sizes.rows, sizes.in, sizes.out, 4})(size);
    ShardedLayer layer = column_layer(true, sizes)(size);
    layer.numbers["first_rows"] = 4;
    layer.serial = [=](const at::Tensor& x, const Tensors& tensors) {
      const auto first_rows = [&](const at::Tensor& rows) {
        return rows.unflatten(0, {size, -1}).narrow(1, 0, 4).flatten(0, 1);
      };
      return at::cat({serial_linear(x, tensors), at::linear(x, first_rows(tensors[0]), first_rows(tensors[1]))}, -1);
    };
    layer.forward = layer.forward + more.forward;
    layer.backward = layer.backward + more.backward;
    layer.product_flops += more.product_flops;
    layer.num_values += more.num_values;
    layer.num_whole_values += more.num_whole_values;
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
    layer.sends = ShardedLayer::Sends::kAtMost;
    layer.num_values = 6 * kLayerRows * features;
    layer.num_whole_values = 4 * kLayerRows;
    return layer;
  };
}

/// With its outputs if each rank computes the statistics by itself.
Case with_norm_suspect(Case test_case) {
  test_case.known_mistakes = {{"local_statistics",
                               "every rank normalises by the mean and the variance of its own features only",
                               [inputs = test_case.inputs](const CasePlace& place) {
                                 const CaseInputs own = inputs(place);
                                 const at::Tensor& x = own.tensor("input.x");
                                 return TensorMap{{"out", at::layer_norm(x, {x.size(-1)}, own.tensor("weight.weight"),
                                                                         own.tensor("weight.bias"), kNormEpsilon)}};
                               }}};
  return test_case;
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
          forward_case(row, "RowLinear", row_layer()),
          gradient_case(row, "RowLinearGradient", with_many_dims(row_layer()))};
}

std::vector<Case> unprinted_layer_cases() {
  const std::string column = "optC.column_linear", row = "optC.row_linear";
  constexpr LayerData float32{at::kFloat}, exact_float32{at::kFloat, true};
  return {gradient_case(column, "ColumnLinearFloat32", with_many_dims(column_layers()), exact_float32),
          gradient_case(row, "RowLinearFloat32", with_many_dims(row_layer()), exact_float32),
          gradient_case("optC.parallel_layer_norm", "LayerNormFloat32", norm_layer(0), float32),
          gradient_case(column, "ColumnLinearWide", with_one_dim(column_layer(false, kWide))),
          gradient_case(row, "RowLinearWide", with_one_dim(row_layer(kWide)))};
}

std::vector<Case> norm_cases() {
  const std::string task = "optC.parallel_layer_norm";
  return {with_norm_suspect(forward_case(task, "LayerNorm", with_many_dims(norm_layer(0)))),
          with_norm_suspect(large_mean_case()),
          with_norm_suspect(gradient_case(task, "LayerNormGradient", norm_layer(0)))};
}

}  // namespace lab::optc
