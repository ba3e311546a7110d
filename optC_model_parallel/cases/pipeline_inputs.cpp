#include "optC_model_parallel/cases/pipeline_inputs.h"

#include "optC_model_parallel/cases/chain_model.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"

namespace lab::optc {

StagePlan uneven_plan(int num_ranks, int num_chunks) {
  const std::int64_t num_stages = num_ranks * num_chunks, num_layers = 2 * num_stages + 1;
  StagePlan plan{chain_model(num_layers), {}, num_ranks};
  for (std::int64_t stage = 0; stage < num_stages; ++stage)
    plan.stages.push_back(uneven_slice(num_layers, num_stages, stage));
  return plan;
}

CaseInputs pipeline_inputs(const PipelineOptions& options, const Images& images, const CasePlace& place) {
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.numbers = {{"num_micro_batches", static_cast<double>(options.num_micro_batches)},
                    {"num_chunks", static_cast<double>(options.num_chunks)},
                    {"recompute", options.recompute ? 1.0 : 0.0}};
  for (std::size_t i = 0; i < schedule_names().size(); ++i) {
    if (schedule_names()[i] == options.schedule) inputs.numbers["schedule"] = static_cast<double>(i);
  }
  inputs.tensors = {{"input.pixels", images.pixels}, {"input.labels", images.labels}};
  const ModelSpec model = uneven_plan(place.size, options.num_chunks).model;
  for (const auto& [name, tensor] : named(model, first_parameters(model, place.seed, at::kDouble)))
    inputs.tensors["weight." + name] = tensor;
  return inputs;
}

PipelineOptions pipeline_options_of(const CaseInputs& inputs) {
  PipelineOptions options;
  options.schedule = schedule_names().at(static_cast<std::size_t>(inputs.integer("schedule")));
  options.num_micro_batches = inputs.integer("num_micro_batches");
  options.num_chunks = static_cast<int>(inputs.integer("num_chunks"));
  options.recompute = inputs.integer("recompute") != 0;
  return options;
}

Images images_of(const CaseInputs& inputs) {
  return {inputs.tensor("input.pixels").cpu(), inputs.tensor("input.labels").cpu()};
}

at::Tensor count_of(std::int64_t value) {
  return at::full({1}, value, at::kLong);
}

}  // namespace lab::optc
