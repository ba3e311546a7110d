#include "optC_model_parallel/cases/chain_model.h"

#include <fmt/format.h>

#include "common/tensor/seeded.h"
#include "optC_model_parallel/model/layers/layer_specs.h"

namespace lab::optc {

namespace {

constexpr std::int64_t kPool = 8;

}  // namespace

ModelSpec chain_model(std::int64_t num_layers) {
  std::int64_t width = kImageChannels * (kImageSide / kPool) * (kImageSide / kPool);
  ModelSpec model{"chain", {}};
  for (std::int64_t i = 0; i < num_layers; ++i) {
    const bool first = i == 0, last = i == num_layers - 1;
    const std::int64_t next_width = last ? kNumClasses : 11 + 5 * i % 7;
    LayerSpec layer = linear_layer(fmt::format("chain{}", i), width, next_width, Activation::kNone, Fill::kHe);
    layer.forward = [first, last, linear = layer.forward](const at::Tensor& x, const Tensors& tensors, Mode mode) {
      const at::Tensor out = linear(first ? at::avg_pool2d(x, kPool) : x, tensors, mode);
      return last ? out : out.tanh();
    };
    model.layers.push_back(std::move(layer));
    width = next_width;
  }
  return model;
}

Images random_images(std::int64_t count, std::uint64_t seed) {
  const at::Tensor pixels = seeded_rand({count, kImageChannels, kImageSide, kImageSide}, seed);
  const at::Tensor labels = seeded_rand({count}, seed + 1);
  return {pixels.mul(256).to(at::kByte), labels.mul(kNumClasses).to(at::kLong)};
}

}  // namespace lab::optc
