#include <limits>

#include "common/base/errors.h"
#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/judged_parts.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/data/generated_images.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/model/training/training_loop.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

/// The last batch of each epoch is smaller.
struct SmallTraining {
  std::string task, name, model;
  std::int64_t num_train = 72;
  std::int64_t num_test = 24;
  std::int64_t batch_size = 16;
  double learning_rate = 0.05;
};

CaseInputs training_inputs(const SmallTraining& training, const CasePlace& place) {
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.tensors = inputs_of(generated_images(training.num_train, training.num_test, place.seed));
  inputs.numbers = {{"batch_size", static_cast<double>(training.batch_size)},
                    {"learning_rate", training.learning_rate}};
  return inputs;
}

/// A judged rank is sent its own shards, with the rest of each split tensor poisoned. The images are every rank's: all
/// take whole batches, and what is not split is computed on each of them.
void keep_shards(const SmallTraining& training, const CasePlace& place, TensorMap& inputs) {
  const ModelSpec model = model_named(training.model);
  add_first_weights(model, place.seed, inputs);
  for (const LayerSpec& layer : model.layers) {
    for (const ParameterSpec& spec : layer.parameters) {
      if (spec.split_dim < 0) continue;
      at::Tensor& whole = inputs.at("weight." + spec.name);
      whole = only_part(whole, spec.split_dim, even_slice(whole.size(spec.split_dim), place.size, place.rank));
    }
  }
  add_orders(training.num_train, kNumTrainingEpochs, place.seed, inputs);
}

Case training_case(const SmallTraining& training) {
  Case result;
  result.task = training.task;
  result.name = result.prefix = training.name;
  result.inside_backward = true;
  result.tolerance.atol = std::numeric_limits<double>::infinity();
  result.tolerance.relative_norm = 1e-10;
  result.skip_reason = [=](int size) -> std::string {
    TrainingOptions options;
    options.model = training.model;
    try {
      check_tensor(options, size);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  result.inputs = [=](const CasePlace& place) { return training_inputs(training, place); };
  result.keep_own_part = [=](const CasePlace& place, TensorMap& inputs) { keep_shards(training, place, inputs); };
  result.expected = [=](const CasePlace& place) {
    const CaseInputs inputs = training_inputs(training, place);
    const TrainingOptions options = tensor_training_options(training.model, inputs);
    const auto single = single_process(options);
    TrainingRecord record = run_training(options, dataset_of(inputs), *single, nullptr, {});
    for (TensorMap& tensors : record.parameters)
      tensors = shard_of(model_named(training.model), tensors, place.rank, place.size);
    return tensors_of(record);
  };
  return result;
}

}  // namespace

std::vector<Case> tensor_training_cases() {
  SmallTraining pair, transformer, resnet;
  pair.task = "optC.tensor_training";
  pair.name = "TensorTraining";
  pair.model = "pair-norm";
  transformer.task = "optC.transformer_training";
  transformer.name = "TransformerTraining";
  transformer.model = "vit";
  resnet.task = "optC.resnet_training";
  resnet.name = "ResnetTraining";
  resnet.model = "resnet";
  for (SmallTraining* training : {&transformer, &resnet}) {
    training->num_train = 12;
    training->num_test = 4;
    training->batch_size = 5;
  }
  return {training_case(pair), training_case(transformer), training_case(resnet)};
}

}  // namespace lab::optc
