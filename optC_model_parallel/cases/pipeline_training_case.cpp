
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/checks/once_per_world.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/generated_images.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

constexpr int kMostPipelineRanks = 8;

constexpr std::int64_t kNumTestImages = 24;

/// The last batch of an epoch has 8 images, the others 32; fewer batches for the deep model.
std::int64_t num_train_images(int num_ranks) {
  return num_ranks <= 5 ? 104 : 40;
}

Dataset data_for(const CasePlace& place) {
  return generated_images(num_train_images(place.size), kNumTestImages, place.seed);
}

/// split_layers() decides which layers a rank has, and which it chooses among equally good splits is its own business:
/// every rank before it has at least one layer, and so has every rank after it.
Slice possible_layers(std::int64_t num_layers, const CasePlace& place) {
  return {place.rank, num_layers - place.size + 1};
}

/// A judged rank is sent the layers that it may have.
void keep_possible_layers(const CasePlace& place, TensorMap& inputs) {
  const ModelSpec model = model_named(pipeline_training_options(place.size, place.seed).model);
  const auto num_layers = static_cast<std::int64_t>(model.layers.size());
  for (const char* images : {"input.train.", "input.test."}) keep_images_of_ends(images, place, inputs);
  add_first_weights(take_part(model, possible_layers(num_layers, place)), place.seed, inputs);
  add_orders(inputs.at("input.train.labels").size(0), kNumTrainingEpochs, place.seed, inputs);
}

/// How often images go through the model, one batch after the other.
struct Passes {
  std::int64_t num_steps = 0, num_evaluations = 0;  ///< of a batch of training images, of test images
  std::int64_t num_images = 0, num_test_images = 0;
};

Passes plan_passes(const CasePlace& place) {
  const TrainingOptions options = pipeline_training_options(place.size, place.seed);
  const std::int64_t epochs = options.num_epochs, num_train = num_train_images(place.size);
  return {epochs * num_batches(num_train, options.batch_size), epochs, epochs * num_train, epochs * kNumTestImages};
}

/// Each micro-batch of each step once over each border, in each direction; the test images forward, after each epoch in
/// one batch. Which border it is, split_layers() decides: at most the widest of those that it may be.
std::vector<CostBound> training_bounds(const CasePlace& place) {
  const ModelSpec model = model_named(pipeline_training_options(place.size, place.seed).model);
  const auto num_layers = static_cast<std::int64_t>(model.layers.size());
  const Passes passes = plan_passes(place);
  const std::int64_t in_training = passes.num_steps * kTrainingMicroBatches;
  std::int64_t messages = 0, most_values = 0, least_values = 0;
  for (const bool after : {false, true}) {  // the border after this rank, or the one before it
    if (place.rank == (after ? place.size - 1 : 0)) continue;
    const Slice before_border = possible_layers(num_layers, {place.rank - (after ? 0 : 1), place.size, place.seed});
    std::int64_t most = 0, least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t layer = before_border.begin; layer < before_border.end(); ++layer) {
      const std::int64_t values = c10::multiply_integers(model.layers[static_cast<std::size_t>(layer)].out_shape);
      most = std::max(most, values);
      least = std::min(least, values);
    }
    messages += in_training + (after ? passes.num_evaluations : 0);
    most_values += most * (passes.num_images + (after ? passes.num_test_images : 0));
    least_values += least * passes.num_images;
  }
  CostBound own;
  own.operation = "optC.pipeline_training";
  own.min_messages = own.max_messages = static_cast<std::uint64_t>(messages);
  own.max_bytes_sent = static_cast<std::uint64_t>(most_values) * sizeof(double);
  own.min_bytes_received = static_cast<std::uint64_t>(least_values) * sizeof(double);
  // sum_over_ranks() joins the trained tensors: the call's, not the student's.
  std::vector<std::int64_t> joined;
  for (const LayerSpec& layer : model.layers) {
    for (const ParameterSpec& spec : layer.parameters)
      joined.insert(joined.end(), kNumTrainingEpochs, c10::multiply_integers(spec.shape));
  }
  std::vector<CostBound> bounds = messages_and_sums(joined, place.size);
  bounds.insert(bounds.begin(), own);
  return bounds;
}

/// Three times the products of the layers that a rank may have, and once for the test images; a quarter more for what is
/// not a product, and an update of each weight. The last layer is small; what is computed of its outputs, several losses
/// and their gradients, is not.
ShareBound training_work(const CasePlace& place) {
  constexpr std::int64_t kPerWeight = 12, kPerLogit = 500;
  const ModelSpec model = model_named(pipeline_training_options(place.size, place.seed).model);
  const Passes passes = plan_passes(place);
  const auto count_flops = [&](const ModelSpec& layers) {
    double multiply_adds = 0;
    std::int64_t weights = 0;
    for (const LayerSpec& layer : layers.layers) {
      multiply_adds += layer.multiply_adds;
      for (const ParameterSpec& spec : layer.parameters) weights += c10::multiply_integers(spec.shape);
    }
    const std::int64_t products =
        2 * static_cast<std::int64_t>(multiply_adds) * (3 * passes.num_images + passes.num_test_images);
    return products + products / 4 + kPerWeight * weights * passes.num_steps +
           kPerLogit * layers.layers.back().out_shape.front() * (passes.num_images + passes.num_test_images);
  };
  const auto num_layers = static_cast<std::int64_t>(model.layers.size());
  return {count_flops(model), count_flops(take_part(model, possible_layers(num_layers, place)))};
}

TrainingRecord trained_in_one_process(int num_ranks, std::uint64_t seed) {
  const TrainingOptions options = pipeline_training_options(num_ranks, seed);
  const auto single = single_process(options);
  return run_training(options, data_for({0, num_ranks, seed}), *single, nullptr, {});
}

}  // namespace

Case pipeline_training_case() {
  Case result;
  result.task = "optC.pipeline_training";
  result.name = result.prefix = "PipelineTraining";
  result.once = "a whole training, of many steps";
  result.tolerance = by_norm(1e-10);
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.seed = place.seed;
    inputs.tensors = make_inputs(data_for(place));
    return inputs;
  };
  result.keep_own_part = keep_possible_layers;
  const OncePerWorld<TrainingRecord> alone(trained_in_one_process);
  result.expected = [alone](const CasePlace& place) {
    return pipeline_training_results(*alone.at(place), place.rank == place.size - 1);
  };
  result.bounds = training_bounds;
  result.work = training_work;
  result.skip_reason = [](int size) {
    return size <= kMostPipelineRanks ? "" : fmt::format("the deepest model here has {} layers", kMostPipelineRanks);
  };
  return result;
}

}  // namespace lab::optc
