#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/model/blocks.h"

// Linear layers, norms and blocks whose tensors are split over ranks, each compared with the layer in one process.
namespace lab::optc {
namespace {

using Sends = ShardedLayer::Sends;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kFeaturesPerRank = 6;
constexpr std::int64_t kLayerRows = 5;                                   // of x
constexpr std::int64_t kBlockRows = 3 * 5, kBlockIn = 7, kBlockOut = 4;  // of a block's x [3, 5, 7]

constexpr LayerData kFloat32{at::kFloat}, kExactFloat32{at::kFloat, true};

/// As many ranks split it along `dim`, in units of `unit`; -1: every rank has all of it.
ParameterSpec split_tensor(const std::string& name, const Shape& shape, int dim = -1, std::int64_t unit = 1) {
  const bool learns = name.find("running_") == std::string::npos;
  return {name, shape, Fill::kUniform, 1, dim, learns, unit};
}

/// The checks that the layer's outputs are right, and that its gradients are, too.
std::vector<Case> both_cases(const std::string& task, const std::string& name, const ShardedLayerFor& layer) {
  return {layer_case(task, name, Passes::kForward, layer), layer_case(task, name + "Gradient", Passes::kBoth, layer)};
}

std::vector<Case> join(const std::vector<std::vector<Case>>& parts) {
  std::vector<Case> all;
  for (const std::vector<Case>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

at::Tensor serial_linear(const at::Tensor& x, const Tensors& tensors) {
  return at::linear(x, tensors[0], tensors[1]);
}

/// The sizes of a linear layer.
struct LinearSizes {
  std::int64_t rows = kLayerRows;                  ///< of x
  std::int64_t in = kBlockIn, out = kBlockOut;     ///< features that are not split
  std::int64_t split_per_rank = kFeaturesPerRank;  ///< those that are
};

/// Weights that outweigh what goes through them by far: one row.
constexpr LinearSizes kWide{1, 64, 64, 64};

ShardedLayerFor column_layer(bool gather_output, const LinearSizes& sizes = {}) {
  return [=](int size) {
    const std::int64_t features = sizes.split_per_rank * size;
    ShardedLayer layer;
    layer.tensors = {split_tensor("weight", {features, sizes.in}, 0), split_tensor("bias", {features}, 0)};
    layer.x_shape = {sizes.rows, sizes.in};
    layer.serial = serial_linear;
    layer.out_is_split = !gather_output;
    if (gather_output) layer.forward.all_gathers = {sizes.rows * features};
    layer.backward.all_reduces = {sizes.rows * sizes.in};
    layer.product_flops = 2 * sizes.rows * sizes.in * features;
    layer.num_values = sizes.rows * features;
    layer.num_whole_values = sizes.rows * (sizes.in + (gather_output ? features : 0));
    layer.numbers = {{"gather_output", gather_output ? 1 : 0}};
    return layer;
  };
}

ShardedLayerFor row_layer(const LinearSizes& sizes = {}) {
  return [=](int size) {
    const std::int64_t features = sizes.split_per_rank * size;
    ShardedLayer layer;
    layer.tensors = {split_tensor("weight", {sizes.out, features}, 1), split_tensor("bias", {sizes.out})};
    layer.x_shape = {sizes.rows, features};
    layer.serial = serial_linear;
    layer.x_is_split = true;
    layer.forward.all_reduces = {sizes.rows * sizes.out};
    layer.product_flops = 2 * sizes.rows * features * sizes.out;
    layer.num_values = sizes.rows * features;
    layer.num_whole_values = sizes.rows * sizes.out;
    return layer;
  };
}

/// The layer, changed.
ShardedLayerFor changed(const ShardedLayerFor& layer_for, const std::function<void(ShardedLayer&)>& change) {
  return [=](int size) {
    ShardedLayer layer = layer_for(size);
    change(layer);
    return layer;
  };
}

/// x with further leading dimensions, and correspondingly more values.
ShardedLayerFor with_many_dims(const ShardedLayerFor& layer_for) {
  return changed(layer_for, [](ShardedLayer& layer) {
    layer.x_shape = {2, 3, kLayerRows, layer.x_shape.back()};
    for (std::int64_t* count : {&layer.product_flops, &layer.num_values, &layer.num_whole_values}) *count *= 6;
    for (Shape* counts : {&layer.forward.all_reduces, &layer.forward.all_gathers, &layer.backward.all_reduces}) {
      for (std::int64_t& count : *counts) count *= 6;
    }
  });
}

/// x of one dimension.
ShardedLayerFor with_one_dim(const ShardedLayerFor& layer_for) {
  return changed(layer_for, [](ShardedLayer& layer) { layer.x_shape = {layer.x_shape.back()}; });
}

/// In which ranks may also gather what they could keep to themselves.
ShardedLayerFor generous(const ShardedLayerFor& layer_for) {
  return changed(layer_for, [](ShardedLayer& layer) { layer.sends = Sends::kGenerously; });
}

/// With a second layer on the same x, of the first four of each rank's neurons: gathers of two widths.
ShardedLayer column_layers(int size) {
  const ShardedLayer more = column_layer(true, {kLayerRows, kBlockIn, kBlockOut, 4})(size);
  ShardedLayer layer = column_layer(true)(size);
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
}

ShardedLayerFor norm_layer(double x_mean) {
  return [=](int size) {
    const std::int64_t features = kFeaturesPerRank * size;
    ShardedLayer layer;
    layer.tensors = {split_tensor("weight", {features}, 0), split_tensor("bias", {features}, 0)};
    layer.x_shape = {kLayerRows, features};
    layer.serial = [](const at::Tensor& x, const Tensors& tensors) {
      return at::layer_norm(x, {x.size(-1)}, tensors[0], tensors[1], kNormEpsilon);
    };
    layer.x_is_split = layer.out_is_split = true;
    layer.x_mean = x_mean;
    layer.forward.all_reduces = layer.backward.all_reduces = {kLayerRows, kLayerRows};
    layer.sends = Sends::kAtMost;
    layer.num_values = 6 * kLayerRows * features;
    layer.num_whole_values = 4 * kLayerRows;
    return layer;
  };
}

std::vector<Case> norm_cases() {
  const std::string task = "optC.parallel_layer_norm";
  std::vector<Case> cases = {layer_case(task, "LayerNorm", Passes::kForward, with_many_dims(norm_layer(0))),
                             // So large a mean that E[x^2] - E[x]^2 has no digit left; the squared distances lose those
                             // of the mean only.
                             layer_case(task, "LayerNormLargeMean", Passes::kForward, norm_layer(1e7)),
                             layer_case(task, "LayerNormGradient", Passes::kBoth, norm_layer(0))};
  cases[1].tolerance.rtol = cases[1].tolerance.atol = 1e-6;
  for (Case& test_case : cases) {
    const auto wrong = [inputs = test_case.inputs](const CasePlace& place) {
      const CaseInputs own = inputs(place);
      const at::Tensor& x = own.tensor("input.x");
      return TensorMap{{"out", at::layer_norm(x, {x.size(-1)}, own.tensor("weight.weight"), own.tensor("weight.bias"),
                                              kNormEpsilon)}};
    };
    test_case.known_mistakes = {
        {"local_statistics", "every rank normalises by the mean and the variance of its own features only", wrong}};
  }
  return cases;
}

ShardedLayer mlp_layer(int size) {
  const std::int64_t hidden = kFeaturesPerRank * size;
  ShardedLayer layer;
  layer.tensors = {split_tensor("fc_in.weight", {hidden, kBlockIn}, 0), split_tensor("fc_in.bias", {hidden}, 0),
                   split_tensor("fc_out.weight", {kBlockOut, hidden}, 1), split_tensor("fc_out.bias", {kBlockOut})};
  layer.x_shape = {3, 5, kBlockIn};
  layer.serial = serial_blocks().mlp;
  layer.forward.all_reduces = {kBlockRows * kBlockOut};
  layer.backward.all_reduces = {kBlockRows * kBlockIn};
  layer.num_hidden = kBlockRows * hidden;
  layer.product_flops = 2 * kBlockRows * hidden * (kBlockIn + kBlockOut);
  layer.num_values = 2 * kBlockRows * hidden;
  layer.num_whole_values = kBlockRows * (kBlockIn + kBlockOut);
  return layer;
}

ShardedLayer norm_mlp_layer(int size) {
  ShardedLayer layer = mlp_layer(size);
  const std::int64_t hidden = kFeaturesPerRank * size;
  layer.tensors.insert(layer.tensors.begin() + 2,
                       {split_tensor("norm.weight", {hidden}, 0), split_tensor("norm.bias", {hidden}, 0)});
  layer.serial = serial_blocks().norm_mlp;
  for (Traffic* traffic : {&layer.forward, &layer.backward})
    traffic->all_reduces.insert(traffic->all_reduces.end(), 2, kBlockRows);
  layer.sends = Sends::kAtMost;
  layer.num_values += 4 * kBlockRows * hidden;
  layer.num_hidden += 2 * hidden;  // with the norm's weight and bias
  return layer;
}

/// Two heads on each rank, so that mixed-up heads are seen both across ranks and within one.
ShardedLayer attention_layer(int size) {
  constexpr std::int64_t head_dim = 3;
  const std::int64_t width = 2 * head_dim * size, scores = kBlockRows * 5 * (width / head_dim);
  ShardedLayer layer;
  for (const char* name : {"q.weight", "k.weight", "v.weight"})
    layer.tensors.push_back(split_tensor(name, {width, width}, 0, head_dim));
  for (const char* name : {"q.bias", "k.bias", "v.bias"})
    layer.tensors.push_back(split_tensor(name, {width}, 0, head_dim));
  layer.tensors.push_back(split_tensor("o.weight", {width, width}, 1, head_dim));
  layer.tensors.push_back(split_tensor("o.bias", {width}));
  layer.x_shape = {3, 5, width};
  layer.serial = [](const at::Tensor& x, const Tensors& tensors) {
    return serial_blocks().attention(x, tensors, head_dim);
  };
  layer.forward.all_reduces = layer.backward.all_reduces = {kBlockRows * width};
  layer.product_flops = 4 * 2 * kBlockRows * width * width + 2 * 2 * scores * head_dim;
  layer.num_values = 4 * kBlockRows * width + 2 * scores;
  layer.num_whole_values = 2 * kBlockRows * width;
  layer.numbers = {{"head_dim", head_dim}};
  return layer;
}

/// A mean of k adds the same to all scores of a row, which changes no probability, but the scores' powers overflow.
/// Softmax makes an absolute error of a score a relative one of its probability. Scores of up to 500 have rounding
/// errors of up to 3e-5 each; a gradient adds up 15 rows of products with values of about 6: about 3e-3 at worst.
Case attention_float32_case() {
  const auto shift = [](ShardedLayer& layer) { layer.means["k.bias"] = 30; };
  Case result = layer_case("optC.parallel_attention", "ParallelAttentionFloat32", Passes::kBoth,
                           changed(attention_layer, shift), kFloat32);
  result.tolerance.rtol = result.tolerance.atol = 4e-3;
  return result;
}

ShardedLayerFor residual_layer(Mode mode) {
  return [=](int size) {
    constexpr std::int64_t channels = 4, side = 5, pixels = 3 * side * side;
    const std::int64_t middle = 2 * size;
    ShardedLayer layer;
    layer.tensors = {split_tensor("conv_in.weight", {middle, channels, 3, 3}, 0)};
    for (const char* name : {"norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"})
      layer.tensors.push_back(split_tensor(name, {middle}, 0));
    layer.tensors.push_back(split_tensor("conv_out.weight", {channels, middle, 3, 3}, 1));
    layer.tensors.push_back(split_tensor("conv_out.bias", {channels}));
    layer.x_shape = {3, channels, side, side};
    layer.serial = [=](const at::Tensor& x, const Tensors& tensors) {
      return serial_blocks().residual(x, tensors, mode);
    };
    layer.forward.all_reduces = layer.backward.all_reduces = {pixels * channels};
    layer.product_flops = 2 * 2 * pixels * 9 * channels * middle;
    layer.num_values = 5 * pixels * middle;
    layer.num_whole_values = 2 * pixels * channels;
    layer.bounds_memory = false;  // the workspaces of convolutions
    layer.numbers = {{"training", mode == Mode::kTraining ? 1 : 0}};
    return layer;
  };
}

}  // namespace

std::vector<Section> tensor_sections() {
  const std::string column = "optC.column_linear", row = "optC.row_linear", residual = "optC.parallel_residual";
  return {{"Communication that autograd understands: sums within a region that ranks share.", function_cases()},
          {"A linear layer whose neurons, or whose inputs, are spread over ranks.",
           join({both_cases(column, "ColumnLinear", column_layer(false)),
                 both_cases(column, "ColumnLinearGathered", with_many_dims(column_layer(true))),
                 {layer_case(row, "RowLinear", Passes::kForward, row_layer()),
                  layer_case(row, "RowLinearGradient", Passes::kBoth, with_many_dims(row_layer()))}})},
          {"Linear, relu, linear, both layers spread over ranks.",
           both_cases("optC.parallel_mlp", "ParallelMlp", generous(mlp_layer))},
          {"LayerNorm of features that are spread over ranks, and the pair with it.",
           join({norm_cases(), both_cases("optC.parallel_norm_mlp", "ParallelNormMlp", generous(norm_mlp_layer))})},
          {"Columns, then rows: one round of communication for the two layers.",
           join({both_cases("optC.column_row", "ColumnRow", mlp_layer),
                 both_cases("optC.column_row", "ColumnRowNorm", norm_mlp_layer)})},
          {"Attention whose heads are spread over ranks.",
           both_cases("optC.parallel_attention", "ParallelAttention", attention_layer)},
          {"A residual block of convolutions whose channels are spread over ranks.",
           join({both_cases(residual, "ParallelResidual", residual_layer(Mode::kTraining)),
                 both_cases(residual, "ParallelResidualEvaluation", residual_layer(Mode::kEvaluation))})},
          {"Short trainings with split layers, beside the same in one process.", tensor_training_cases()}};
}

std::vector<Case> unprinted_tensor_cases() {
  const std::string column = "optC.column_linear", row = "optC.row_linear";
  // Where relu's input is rounded, only the forward pass is compared: its derivative jumps at 0.
  return join(
      {unprinted_function_cases(),
       {layer_case(column, "ColumnLinearFloat32", Passes::kBoth, with_many_dims(column_layers), kExactFloat32),
        layer_case(row, "RowLinearFloat32", Passes::kBoth, with_many_dims(row_layer()), kExactFloat32),
        layer_case("optC.parallel_layer_norm", "LayerNormFloat32", Passes::kBoth, norm_layer(0), kFloat32),
        layer_case(column, "ColumnLinearWide", Passes::kBoth, with_one_dim(column_layer(false, kWide))),
        layer_case(row, "RowLinearWide", Passes::kBoth, with_one_dim(row_layer(kWide))),
        layer_case("optC.parallel_mlp", "ParallelMlpFloat32", Passes::kBoth, generous(mlp_layer), kExactFloat32),
        layer_case("optC.parallel_norm_mlp", "ParallelNormMlpFloat32", Passes::kForward, generous(norm_mlp_layer),
                   kFloat32),
        layer_case("optC.column_row", "ColumnRowFloat32", Passes::kBoth, mlp_layer, kExactFloat32),
        attention_float32_case(),
        layer_case("optC.parallel_residual", "ParallelResidualFloat32", Passes::kForward,
                   residual_layer(Mode::kTraining), kFloat32)}});
}

}  // namespace lab::optc
