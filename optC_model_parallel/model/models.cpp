#include "optC_model_parallel/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "optC_model_parallel/model/blocks.h"
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

ModelSpec model_named(const std::string& name, const Blocks& blocks) {
  if (name == "tutorial") return tutorial_model();
  if (name == "deep") return deep_model();
  if (name == "pair") return pair_model(blocks);
  if (name == "pair-norm") return pair_norm_model(blocks);
  if (name == "vit") return vit_model(blocks);
  if (name == "resnet") return resnet_model(blocks);
  throw UsageError(fmt::format("model '{}': expected one of {} (pipeline) or {} (tensor)", name,
                               fmt::join(pipeline_model_names(), ", "), fmt::join(tensor_model_names(), ", ")));
}

namespace {

/// 3 x 3, with the same size as its input, unless a pool halves it.
LayerSpec same_convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t side, bool pool) {
  return convolution_layer(name, {in, out, /*kernel=*/3, side, /*padding=*/1, /*stride=*/1, pool, Fill::kHe});
}

}  // namespace

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

namespace {

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

}  // namespace

ModelSpec pair_model(const Blocks& blocks) {
  return paired_tutorial("pair", blocks.mlp, {});
}

ModelSpec pair_norm_model(const Blocks& blocks) {
  return paired_tutorial("pair-norm", blocks.norm_mlp, norm_parameters("norm", 120));
}

}  // namespace lab::optc
