#include "optC_model_parallel/cases/cases.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"
#include "optC_model_parallel/model/draws.h"

namespace lab::optc {

std::vector<Section> pipeline_sections() {
  return {{"The parts of a pipeline, each by itself.", part_cases()},
          {"GPipe: one batch through all stages, beside the whole model in one process.", gpipe_cases()},
          {"A short training in stages, beside the same in one process.", {pipeline_training_case()}},
          {"Other schedules through the same stages.", schedule_cases()},
          {"Weights of several versions: which, and how long they are kept.", version_cases()},
          {"Pipelines that are not drained between batches, beside an emulation in one process.", stale_cases()}};
}

std::vector<Section> sections() {
  std::vector<Section> all = pipeline_sections();
  for (Section& section : tensor_sections()) all.push_back(std::move(section));
  return all;
}

std::vector<Case> unprinted_pipeline_cases() {
  std::vector<Case> all = unprinted_pass_cases();
  all.push_back(micro_batch_loss_float32_case());
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = list_cases(sections());
  for (const std::vector<Case>& more : {unprinted_pipeline_cases(), unprinted_tensor_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return with_costly(std::move(all), {"PipelineTraining", "TensorTraining", "TransformerTraining", "ResnetTraining",
                                      "PipeDream2bw", "VerticalSync", "PipeDream", "InterleavedThreeChunks"});
}

GradedLab graded_lab() {
  return {all_cases};
}

Tolerance by_norm(double relative_norm) {
  return {0, std::numeric_limits<double>::infinity(), relative_norm};
}

Case local_case(const std::string& task, const std::string& name, const Tolerance& tolerance) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.only_rank_zero = true;
  result.tolerance = tolerance;
  return result;
}

Images random_images(std::int64_t count, std::uint64_t seed) {
  const at::Tensor pixels = seeded_rand({count, kImageChannels, kImageSide, kImageSide}, seed);
  const at::Tensor labels = seeded_rand({count}, seed + 1);
  return {pixels.mul(256).to(at::kByte), labels.mul(kNumClasses).to(at::kLong)};
}

void keep_images_of_ends(const std::string& prefix, const CasePlace& place, TensorMap& inputs) {
  for (const auto& [name, reader] : {std::pair("pixels", 0), std::pair("labels", place.size - 1)}) {
    at::Tensor& tensor = inputs.at(prefix + name);
    if (place.rank != reader) tensor = poison_(tensor.clone());
  }
}

void add_first_weights(const ModelSpec& layers, std::uint64_t seed, TensorMap& inputs) {
  for (const ParameterSpec& spec : parameter_specs(layers)) inputs["weight." + spec.name] = draw_parameter(spec, seed);
}

void add_orders(std::int64_t num_images, std::int64_t num_epochs, std::uint64_t seed, TensorMap& inputs) {
  for (std::int64_t epoch = 0; epoch < num_epochs; ++epoch)
    inputs[fmt::format("input.order{}", epoch)] = at::tensor(epoch_order(num_images, seed, epoch), at::kLong);
}

}  // namespace lab::optc
