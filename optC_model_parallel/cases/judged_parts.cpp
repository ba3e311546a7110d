#include "optC_model_parallel/cases/judged_parts.h"

#include <fmt/format.h>

#include "common/tensor/exact_data.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {

void keep_images_of_ends(const std::string& prefix, const CasePlace& place, TensorMap& inputs) {
  const auto withhold = [&](const char* name) {
    at::Tensor& tensor = inputs.at(prefix + name);
    tensor = poison_(tensor.clone());
  };
  if (place.rank != 0) withhold("pixels");
  if (place.rank != place.size - 1) withhold("labels");
}

void keep_weights_of(const ModelSpec& layers, TensorMap& inputs) {
  TensorMap kept;
  for (const auto& [name, tensor] : inputs) {
    if (name.rfind("weight.", 0) != 0) kept[name] = tensor;
  }
  for (const LayerSpec& layer : layers.layers) {
    for (const ParameterSpec& spec : layer.parameters) kept["weight." + spec.name] = inputs.at("weight." + spec.name);
  }
  inputs = std::move(kept);
}

void add_first_weights(const ModelSpec& layers, std::uint64_t seed, TensorMap& inputs) {
  for (const auto& [name, tensor] : named(layers, first_parameters(layers, seed, at::kDouble)))
    inputs["weight." + name] = tensor;
}

void add_orders(std::int64_t num_images, std::int64_t num_epochs, std::uint64_t seed, TensorMap& inputs) {
  for (std::int64_t epoch = 0; epoch < num_epochs; ++epoch)
    inputs[fmt::format("input.order{}", epoch)] = at::tensor(epoch_order(num_images, seed, epoch), at::kLong);
}

}  // namespace lab::optc
