#include "a5_pipeline/model.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "a5_pipeline/linear.h"
#include "common/base/errors.h"
#include "common/tensor/seeded.h"
#include "common/tensor/shape_check.h"

namespace lab::a5 {
namespace {

/// [out, in], normal with variance gain / in. Drawn in float32 whatever the dtype.
at::Tensor weight(std::int64_t out, std::int64_t in, double gain, at::Generator& generator,
                  const PipelineArguments& arguments) {
  at::Tensor drawn = at::empty({out, in}, at::kFloat);
  drawn.normal_(0, std::sqrt(gain / static_cast<double>(in)), generator);
  return drawn.to(arguments.device, arguments.dtype).requires_grad_();
}

}  // namespace

Layer make_layer(const PipelineArguments& arguments, std::int64_t index) {
  at::Generator generator = make_generator(rank_seed(arguments.seed, index));
  Layer layer;
  layer.index = index;
  const double gain = arguments.activation == Activation::kRelu ? 2 : 1.5;
  layer.fc1 = weight(arguments.intermediate_size, arguments.hidden_size, gain, generator, arguments);
  layer.fc2 = weight(arguments.hidden_size, arguments.intermediate_size, 1, generator, arguments);
  return layer;
}

Model::Model(const PipelineArguments& arguments, const std::vector<std::int64_t>& layer_indices,
             std::function<void()> layer_done)
    : activation_(arguments.activation), layer_done_(std::move(layer_done)) {
  for (const std::int64_t index : layer_indices) {
    if (index < 0 || index >= arguments.number_of_layers) {
      throw ContractError(fmt::format("a stage was given layer {}; expected indices from 0 to {}", index,
                                      arguments.number_of_layers - 1));
    }
    layers_.push_back(make_layer(arguments, index));
    if (layer_done_) layer_done_();
  }
}

at::Tensor Model::forward(at::Tensor x) const {
  return forward_with(apply_weight, std::move(x));
}

at::Tensor Model::forward_with(const Linear& linear_of, at::Tensor x) const {
  if (!x.defined()) throw ContractError("the model's input is an undefined tensor; hint: where does it come from?");
  for (const Layer& layer : layers_) {
    check(x, {-1, -1, layer.fc1.size(1)});
    const at::Tensor inner = linear_of(x, layer.fc1);
    x = linear_of(activation_ == Activation::kRelu ? at::relu(inner) : at::tanh(inner), layer.fc2);
    if (!layer_done_) continue;
    layer_done_();
    if (x.requires_grad()) x.register_hook([done = layer_done_](const at::Tensor&) { done(); });
  }
  return x;
}

TensorMap Model::weights() const {
  TensorMap all;
  for (const Layer& layer : layers_) {
    all[fmt::format("layer{}.fc1", layer.index)] = layer.fc1;
    all[fmt::format("layer{}.fc2", layer.index)] = layer.fc2;
  }
  return all;
}

TensorMap Model::gradients() const {
  TensorMap all = weights();
  for (auto& [name, tensor] : all) tensor = tensor.grad();
  return all;
}

std::vector<std::int64_t> all_layers(const PipelineArguments& arguments) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(arguments.number_of_layers));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

}  // namespace lab::a5
