#include "optC_model_parallel/cases/pipeline_inputs.h"

#include <fmt/format.h>

#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {

Images random_images(std::int64_t count, std::uint64_t seed) {
  const at::Tensor pixels = seeded_rand({count, kImageChannels, kImageSide, kImageSide}, seed);
  const at::Tensor labels = seeded_rand({count}, seed + 1);
  return {pixels.mul(256).to(at::kByte), labels.mul(kNumClasses).to(at::kLong)};
}

CaseInputs pipeline_inputs(const PipelineOptions& options, const Images& images, const CasePlace& place,
                           const TrialModel& trial) {
  CaseInputs inputs;
  inputs.numbers = {{"num_micro_batches", static_cast<double>(options.num_micro_batches)},
                    {"num_chunks", static_cast<double>(options.num_chunks)},
                    {"recompute", options.recompute ? 1.0 : 0.0},
                    {"long_layers", static_cast<double>(trial.long_layers)},
                    {"is_float32", trial.dtype == at::kFloat ? 1.0 : 0.0}};
  for (std::size_t i = 0; i < schedule_names().size(); ++i) {
    if (schedule_names()[i] == options.schedule) inputs.numbers["schedule"] = static_cast<double>(i);
  }
  inputs.tensors = {{"input.pixels", images.pixels}, {"input.labels", images.labels}};
  const ModelSpec model = plan_of_trial(inputs, place.size).model;
  for (const auto& [name, tensor] : named(model, first_parameters(model, place.seed, trial.dtype)))
    inputs.tensors["weight." + name] = tensor;
  return inputs;
}

void keep_images_of_ends(const std::string& prefix, const CasePlace& place, TensorMap& inputs) {
  const auto withhold = [&](const char* name) {
    at::Tensor& tensor = inputs.at(prefix + name);
    tensor = poison_(tensor.clone());
  };
  if (place.rank != 0) withhold("pixels");
  if (place.rank != place.size - 1) withhold("labels");
}

void keep_weights(const ModelSpec& layers, TensorMap& inputs) {
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
