#include "optC_model_parallel/model/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {

const std::vector<std::string>& pipeline_model_names() {
  static const std::vector<std::string> names = {"tutorial", "deep"};
  return names;
}

const std::vector<std::string>& tensor_model_names() {
  static const std::vector<std::string> names = {"pair", "pair-norm", "vit", "resnet"};
  return names;
}

namespace {

/// 3 x 3, with the same size as its input, unless a pool halves it.
LayerSpec same_convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t side, bool pool) {
  return convolution_layer(name, {in, out, /*kernel=*/3, side, /*padding=*/1, /*stride=*/1, pool, Fill::kHe});
}

ModelSpec tutorial_model() {
  ConvolutionOptions conv1{kImageChannels, 6, /*kernel=*/5, kImageSide};
  ConvolutionOptions conv2{6, 16, /*kernel=*/5, /*in_side=*/14};
  conv1.pool = conv2.pool = true;
  return {"tutorial",
          {convolution_layer("conv1", conv1), convolution_layer("conv2", conv2), linear_layer("fc1", 16 * 5 * 5, 120),
           linear_layer("fc2", 120, 84), linear_layer("fc3", 84, kNumClasses, Activation::kNone)}};
}

ModelSpec deep_model() {
  return {
      "deep",
      {same_convolution("conv1", kImageChannels, 8, kImageSide, true), same_convolution("conv2", 8, 16, 16, false),
       same_convolution("conv3", 16, 16, 16, true), same_convolution("conv4", 16, 32, 8, false),
       same_convolution("conv5", 32, 32, 8, true), linear_layer("fc1", 32 * 4 * 4, 64, Activation::kRelu, Fill::kHe),
       linear_layer("fc2", 64, 32, Activation::kRelu, Fill::kHe),
       linear_layer("fc3", 32, kNumClasses, Activation::kNone)}};
}

using MlpBlock = std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)>;

/// The tutorial's net with its layers fc1 and fc2 as one block; `between`: the parameters between them.
ModelSpec paired_tutorial(const std::string& name, const MlpBlock& block, std::vector<ParameterSpec> between) {
  const ModelSpec tutorial = tutorial_model();
  const LayerSpec& fc1 = tutorial.layers[2];
  const LayerSpec& fc2 = tutorial.layers[3];
  LayerSpec pair;
  pair.name = "fc1-fc2";
  pair.parameters =
      joined({split_by_rows(fc1.parameters), split_by_rows(std::move(between)), split_by_columns(fc2.parameters)});
  pair.out_shape = fc2.out_shape;
  pair.multiply_adds = fc1.multiply_adds + fc2.multiply_adds;
  pair.forward = [block](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::relu(block(x.flatten(1), tensors));
  };
  return {name, {tutorial.layers[0], tutorial.layers[1], std::move(pair), tutorial.layers[4]}};
}

// vit. Shapes: B images, S = 64 positions, D = 48 values at each.

constexpr std::int64_t kPatch = 4;
constexpr std::int64_t kPlacesPerSide = kImageSide / kPatch;
constexpr std::int64_t kPlaces = kPlacesPerSide * kPlacesPerSide;
constexpr std::int64_t kPatchValues = kImageChannels * kPatch * kPatch;
constexpr std::int64_t kWidth = 48;
constexpr std::int64_t kHeadDim = 12;
constexpr std::int64_t kHidden = 48;

at::Tensor vit_norm(const at::Tensor& x_BSD, const at::Tensor& weight, const at::Tensor& bias) {
  return at::layer_norm(x_BSD, {kWidth}, weight, bias, kNormEpsilon);
}

Tensors some(const Tensors& tensors, std::size_t begin, std::size_t end) {
  return {tensors.begin() + static_cast<std::ptrdiff_t>(begin), tensors.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// [B, 3, 32, 32] -> [B, S, 48]: the pixels of each patch.
at::Tensor split_patches(const at::Tensor& x) {
  return x.reshape({x.size(0), kImageChannels, kPlacesPerSide, kPatch, kPlacesPerSide, kPatch})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({x.size(0), kPlaces, kPatchValues});
}

LayerSpec patches_layer() {
  LayerSpec layer = linear_layer("patches", kPatchValues, kWidth);
  layer.parameters.push_back({"places", {kPlaces, kWidth}, Fill::kUniform, kWidth});
  layer.out_shape = {kPlaces, kWidth};
  layer.multiply_adds *= static_cast<double>(kPlaces);
  layer.forward = [](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::linear(split_patches(x), tensors[0], tensors[1]) + tensors[2];
  };
  return layer;
}

/// All weights, then all biases, in the order of Blocks::attention.
std::vector<ParameterSpec> attention_parameters(const std::string& name) {
  std::vector<ParameterSpec> weights, biases;
  for (const char* which : {".q", ".k", ".v"}) {
    const std::vector<ParameterSpec> linear =
        split_by_rows(weight_and_bias(name + which, {kWidth, kWidth}), /*unit=*/kHeadDim);
    weights.push_back(linear[0]);
    biases.push_back(linear[1]);
  }
  std::vector<ParameterSpec> o = split_by_columns(weight_and_bias(name + ".o", {kWidth, kWidth}));
  o.front().split_unit = kHeadDim;
  return joined({weights, biases, o});
}

LayerSpec transformer_layer(const std::string& name, const Blocks& blocks) {
  LayerSpec layer;
  layer.name = name;
  layer.parameters = joined({norm_parameters(name + ".norm1", kWidth), attention_parameters(name),
                             norm_parameters(name + ".norm2", kWidth),
                             split_by_rows(weight_and_bias(name + ".fc_in", {kHidden, kWidth})),
                             split_by_columns(weight_and_bias(name + ".fc_out", {kWidth, kHidden}))});
  layer.out_shape = {kPlaces, kWidth};
  layer.multiply_adds =
      static_cast<double>(kPlaces * (4 * kWidth * kWidth + 2 * kPlaces * kWidth + 2 * kWidth * kHidden));
  layer.forward = [attention = blocks.attention, mlp = blocks.mlp](const at::Tensor& x, const Tensors& t, Mode) {
    const at::Tensor h = x + attention(vit_norm(x, t[0], t[1]), some(t, 2, 10), kHeadDim);
    return h + mlp(vit_norm(h, t[10], t[11]), some(t, 12, 16));
  };
  return layer;
}

LayerSpec vit_head() {
  LayerSpec layer = linear_layer("head", kWidth, kNumClasses, Activation::kNone);
  layer.parameters = joined({norm_parameters("norm", kWidth), layer.parameters});
  layer.forward = [](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::linear(vit_norm(x, tensors[0], tensors[1]).mean(1), tensors[2], tensors[3]);
  };
  return layer;
}

ModelSpec vit_model(const Blocks& blocks) {
  return {"vit",
          {patches_layer(), transformer_layer("block1", blocks), transformer_layer("block2", blocks), vit_head()}};
}

constexpr std::int64_t kResnetChannels = 24;
constexpr std::int64_t kTaps = 9;  // of a 3x3 convolution

/// A BatchNorm's learnable parameters and running statistics.
std::vector<ParameterSpec> batch_norm_parameters(const std::string& name) {
  std::vector<ParameterSpec> parameters = norm_parameters(name, kResnetChannels);
  parameters.push_back({name + ".running_mean", {kResnetChannels}, Fill::kZeros});
  parameters.push_back({name + ".running_var", {kResnetChannels}, Fill::kOnes});
  parameters[2].learns = parameters[3].learns = false;
  return parameters;
}

/// relu(x + block(x)), and optionally a 2 x 2 max-pool.
LayerSpec residual_layer(const std::string& name, std::int64_t side, bool pool, const Blocks& blocks) {
  LayerSpec layer;
  layer.name = name;
  std::vector<ParameterSpec> conv_in =
      weight_and_bias(name + ".conv_in", {kResnetChannels, kResnetChannels, 3, 3}, Fill::kHe);
  conv_in.pop_back();  // the norm would remove any bias
  layer.parameters = joined(
      {split_by_rows(std::move(conv_in)), split_by_rows(batch_norm_parameters(name + ".norm")),
       split_by_columns(weight_and_bias(name + ".conv_out", {kResnetChannels, kResnetChannels, 3, 3}, Fill::kHe))});
  const std::int64_t out_side = pool ? side / 2 : side;
  layer.out_shape = {kResnetChannels, out_side, out_side};
  layer.multiply_adds = static_cast<double>(2 * kResnetChannels * kResnetChannels * kTaps * side * side);
  layer.forward = [residual = blocks.residual, pool](const at::Tensor& x, const Tensors& tensors, Mode mode) {
    const at::Tensor out = at::relu(x + residual(x, tensors, mode));
    return pool ? at::max_pool2d(out, 2) : out;
  };
  return layer;
}

/// BatchNorm, the mean over all pixels of each channel, and a linear layer.
LayerSpec resnet_head() {
  LayerSpec layer = linear_layer("head", kResnetChannels, kNumClasses, Activation::kNone);
  layer.parameters = joined({batch_norm_parameters("norm"), layer.parameters});
  layer.forward = [](const at::Tensor& x, const Tensors& t, Mode mode) {
    const at::Tensor h = at::batch_norm(x, t[0], t[1], t[2], t[3], mode == Mode::kTraining, kBatchNormMomentum,
                                        kNormEpsilon, /*cudnn_enabled=*/false);
    return at::linear(h.mean(at::IntArrayRef{2, 3}), t[4], t[5]);
  };
  return layer;
}

ModelSpec resnet_model(const Blocks& blocks) {
  ConvolutionOptions first{kImageChannels, kResnetChannels, /*kernel=*/5, kImageSide, /*padding=*/2, /*stride=*/2};
  first.pool = true;
  return {
      "resnet",
      {convolution_layer("conv", first), residual_layer("residual1", 8, true, blocks),
       residual_layer("residual2", 4, false, blocks), residual_layer("residual3", 4, false, blocks), resnet_head()}};
}

}  // namespace

ModelSpec model_named(const std::string& name, const Blocks& blocks) {
  if (name == "tutorial") return tutorial_model();
  if (name == "deep") return deep_model();
  if (name == "pair") return paired_tutorial(name, blocks.mlp, {});
  if (name == "pair-norm") return paired_tutorial(name, blocks.norm_mlp, norm_parameters("norm", 120));
  if (name == "vit") return vit_model(blocks);
  if (name == "resnet") return resnet_model(blocks);
  throw UsageError(fmt::format("model '{}': expected one of {} (pipeline) or {} (tensor)", name,
                               fmt::join(pipeline_model_names(), ", "), fmt::join(tensor_model_names(), ", ")));
}

}  // namespace lab::optc
