#include "optC_model_parallel/model/layers/pipeline_models.h"

#include <fmt/format.h>

#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/layers/layer_specs.h"

namespace lab::optc {
namespace {

/// 3 x 3, with the same size as its input, unless a pool halves it.
LayerSpec same_convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t side, bool pool) {
  return convolution_layer(name, {in, out, /*kernel=*/3, side, /*padding=*/1, /*stride=*/1, pool, Fill::kHe});
}

/// The mean over all pixels of each channel, and a linear layer.
LayerSpec mean_and_linear(const std::string& name, std::int64_t channels) {
  LayerSpec layer = linear_layer(name, channels, kNumClasses, Activation::kNone);
  layer.forward = [linear = layer.forward](const at::Tensor& x, const Tensors& tensors, Mode mode) {
    return linear(x.mean(at::IntArrayRef{2, 3}), tensors, mode);
  };
  return layer;
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

ModelSpec wide_model() {
  constexpr std::int64_t kChannels = 32;
  ModelSpec model{"wide", {}};
  model.layers.push_back(convolution_layer("first", {kImageChannels, kChannels, /*kernel=*/1, kImageSide}));
  for (int i = 1; i <= 8; ++i)
    model.layers.push_back(same_convolution(fmt::format("conv{}", i), kChannels, kChannels, kImageSide, false));
  model.layers.push_back(mean_and_linear("last", kChannels));
  return model;
}

}  // namespace lab::optc
