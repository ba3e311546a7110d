#include "optC_model_parallel/calls/chain_model.h"

#include <fmt/format.h>

#include "optC_model_parallel/model/data/images.h"
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

StagePlan uneven_plan(int num_ranks, int num_chunks) {
  const std::int64_t num_stages = num_ranks * num_chunks, num_layers = 2 * num_stages + 1;
  StagePlan plan{chain_model(num_layers), {}, num_ranks};
  for (std::int64_t stage = 0; stage < num_stages; ++stage)
    plan.stages.push_back(uneven_slice(num_layers, num_stages, stage));
  return plan;
}

}  // namespace lab::optc
