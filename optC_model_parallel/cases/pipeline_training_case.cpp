#include "optC_model_parallel/cases/pipeline_training_case.h"

#include <fmt/format.h>

#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/judged_parts.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/data/generated_images.h"
#include "optC_model_parallel/model/training/training_loop.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

constexpr int kMostPipelineRanks = 8;

/// The last batch of an epoch has 8 images, the others 32. Fewer batches for the deep model: every rank also trains it
/// alone to get the expected results.
Dataset data_for(const CasePlace& place) {
  return generated_images(place.size <= 5 ? 104 : 40, 24, place.seed);
}

/// split_layers() decides which layers a rank has, and which it chooses among equally good splits is its own business.
/// So a judged rank is sent those that it may have: every rank before it has at least one layer, and so has every rank
/// after it.
void keep_possible_layers(const CasePlace& place, TensorMap& inputs) {
  const ModelSpec model = model_named(pipeline_training_options(place.size, place.seed).model);
  const auto num_layers = static_cast<std::int64_t>(model.layers.size());
  for (const char* images : {"input.train.", "input.test."}) keep_images_of_ends(images, place, inputs);
  add_first_weights(part_of(model, {place.rank, num_layers - place.size + 1}), place.seed, inputs);
  add_orders(inputs.at("input.train.labels").size(0), kNumTrainingEpochs, place.seed, inputs);
}

TensorMap training_expected(const CasePlace& place) {
  const TrainingOptions options = pipeline_training_options(place.size, place.seed);
  const auto single = single_process(options);
  const TrainingRecord record = run_training(options, data_for(place), *single, nullptr, {});
  return pipeline_training_results(record, place.rank == place.size - 1);
}

}  // namespace

Case pipeline_training_case() {
  Case result;
  result.task = "optC.pipeline_training";
  result.name = result.prefix = "PipelineTraining";
  result.tolerance = by_norm(1e-10);
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.seed = place.seed;
    inputs.tensors = inputs_of(data_for(place));
    return inputs;
  };
  result.keep_own_part = keep_possible_layers;
  result.expected = training_expected;
  result.skip_reason = [](int size) {
    return size <= kMostPipelineRanks ? "" : fmt::format("the deepest model here has {} layers", kMostPipelineRanks);
  };
  return result;
}

}  // namespace lab::optc
