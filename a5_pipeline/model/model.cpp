#include "a5_pipeline/model.h"

#include <fmt/format.h>

#include <numeric>

#include "a5_pipeline/linear.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::a5 {

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

at::Tensor Model::forward_with(const Linear& make_linear, at::Tensor x) const {
  if (!x.defined()) throw ContractError("the model's input is an undefined tensor; hint: where does it come from?");
  for (const Layer& layer : layers_) {
    check(x, {-1, -1, layer.fc1.size(1)});
    const at::Tensor inner = make_linear(x, layer.fc1);
    x = make_linear(activation_ == Activation::kRelu ? at::relu(inner) : at::tanh(inner), layer.fc2);
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
