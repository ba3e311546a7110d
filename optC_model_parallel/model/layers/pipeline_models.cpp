#include "optC_model_parallel/model/layers/pipeline_models.h"

#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/layers/layer_specs.h"

namespace lab::optc {
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

}  // namespace lab::optc
