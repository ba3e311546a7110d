#include "optC_model_parallel/cases/pipeline_inputs.h"

#include "common/tensor/seeded.h"
#include "optC_model_parallel/calls/chain_model.h"
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

}  // namespace lab::optc
