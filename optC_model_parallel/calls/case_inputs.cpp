#include "optC_model_parallel/calls/case_inputs.h"

#include <string>

namespace lab::optc {
namespace {

Images images_at(const CaseInputs& inputs, const std::string& prefix) {
  return {inputs.tensor(prefix + "pixels").cpu(), inputs.tensor(prefix + "labels").cpu()};
}

}  // namespace

PipelineOptions make_pipeline_options(const CaseInputs& inputs) {
  PipelineOptions options;
  options.schedule = schedule_names().at(static_cast<std::size_t>(inputs.integer("schedule")));
  options.num_micro_batches = inputs.integer("num_micro_batches");
  options.num_chunks = static_cast<int>(inputs.integer("num_chunks"));
  options.recompute = inputs.integer("recompute") != 0;
  return options;
}

Images make_images(const CaseInputs& inputs) {
  return images_at(inputs, "input.");
}

TensorMap make_inputs(const Dataset& data) {
  return {{"input.train.pixels", data.train.pixels},
          {"input.train.labels", data.train.labels},
          {"input.test.pixels", data.test.pixels},
          {"input.test.labels", data.test.labels}};
}

Dataset make_dataset(const CaseInputs& inputs) {
  return {images_at(inputs, "input.train."), images_at(inputs, "input.test.")};
}

at::TensorOptions make_tensor_options(const CaseInputs& inputs) {
  return at::TensorOptions(inputs.integer("is_float32") != 0 ? at::kFloat : at::kDouble).device(inputs.device);
}

Parameters read_weights(const ModelSpec& layers, const CaseInputs& inputs) {
  const std::string prefix = "weight.";
  TensorMap values;
  for (const auto& [name, tensor] : inputs.tensors) {
    if (name.rfind(prefix, 0) == 0) values[name.substr(prefix.size())] = tensor;
  }
  Parameters weights = zero_parameters(layers, make_tensor_options(inputs));
  assign(layers, weights, values);
  return weights;
}

at::Tensor make_count(std::int64_t value) {
  return at::full({1}, value, at::kLong);
}

}  // namespace lab::optc
