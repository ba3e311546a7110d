#include <string>
#include <utility>

#include "optC_model_parallel/model/blocks.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

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
      convolution_parameters(name + ".conv_in", kResnetChannels, kResnetChannels, 3, Fill::kHe);
  conv_in.pop_back();  // the norm would remove any bias
  layer.parameters = joined(
      {split_by_rows(std::move(conv_in)), split_by_rows(batch_norm_parameters(name + ".norm")),
       split_by_columns(convolution_parameters(name + ".conv_out", kResnetChannels, kResnetChannels, 3, Fill::kHe))});
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

}  // namespace

ModelSpec resnet_model(const Blocks& blocks) {
  ConvolutionOptions first{kImageChannels, kResnetChannels, /*kernel=*/5, kImageSide, /*padding=*/2, /*stride=*/2};
  first.pool = true;
  return {
      "resnet",
      {convolution_layer("conv", first), residual_layer("residual1", 8, true, blocks),
       residual_layer("residual2", 4, false, blocks), residual_layer("residual3", 4, false, blocks), resnet_head()}};
}

}  // namespace lab::optc
