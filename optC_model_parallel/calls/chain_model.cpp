#include "optC_model_parallel/calls/chain_model.h"

#include <fmt/format.h>

#include <functional>

#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/blocks.h"

namespace lab::optc {

namespace {

constexpr std::int64_t kPool = 8;
constexpr std::int64_t kLongWidth = 192;  // 70,000 operations per image and layer, for 1,536 bytes sent

ModelSpec chain_of_widths(std::int64_t num_layers, const std::function<std::int64_t(std::int64_t layer)>& choose_width) {
  std::int64_t width = kImageChannels * (kImageSide / kPool) * (kImageSide / kPool);
  ModelSpec model{"chain", {}};
  for (std::int64_t i = 0; i < num_layers; ++i) {
    const bool first = i == 0, last = i == num_layers - 1;
    const std::int64_t next_width = last ? kNumClasses : choose_width(i);
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

}  // namespace

ModelSpec chain_model(std::int64_t num_layers) {
  return chain_of_widths(num_layers, [](std::int64_t i) { return 11 + 5 * i % 7; });
}

StagePlan uneven_plan(int num_ranks, int num_chunks) {
  const std::int64_t num_stages = num_ranks * num_chunks, num_layers = 2 * num_stages + 1;
  StagePlan plan{chain_model(num_layers), {}, num_ranks};
  for (std::int64_t stage = 0; stage < num_stages; ++stage)
    plan.stages.push_back(uneven_slice(num_layers, num_stages, stage));
  return plan;
}

StagePlan long_plan(int num_ranks, int num_chunks, std::int64_t layers_per_stage) {
  // The first and the last layer are small: each is with its neighbours.
  const std::int64_t num_stages = num_ranks * num_chunks, num_layers = num_stages * layers_per_stage + 2;
  StagePlan plan{chain_of_widths(num_layers, [](std::int64_t) { return kLongWidth; }), {}, num_ranks};
  std::int64_t begin = 0;
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    const std::int64_t end = stage == num_stages - 1 ? num_layers : (stage + 1) * layers_per_stage + 1;
    plan.stages.push_back({begin, end - begin});
    begin = end;
  }
  return plan;
}

StagePlan plan_of_trial(const CaseInputs& inputs, int num_ranks) {
  const auto num_chunks = static_cast<int>(inputs.integer("num_chunks"));
  const std::int64_t long_layers = inputs.integer("long_layers");
  return long_layers > 0 ? long_plan(num_ranks, num_chunks, long_layers) : uneven_plan(num_ranks, num_chunks);
}

}  // namespace lab::optc
