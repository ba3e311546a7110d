#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/api/errors.h"
#include "common/checks/once_per_world.h"
#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/generated_images.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training.h"
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
  inputs.tensors = make_inputs(generated_images(training.num_train, training.num_test, place.seed));
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

/// What a split block of a model has for one image.
struct BlockValues {
  std::int64_t in = 0, out = 0;  ///< whole on every rank
  std::int64_t hidden = 0;       ///< in between, split over ranks
  std::int64_t statistics = 0;   ///< of a split norm: sums over ranks, each way
};

/// Of models.h.
std::vector<BlockValues> list_blocks(const std::string& model) {
  if (model == "pair-norm") return {{400, 84, 120, 2}};
  constexpr std::int64_t places = 64, width = 48, channels = 24;
  if (model == "resnet") {
    const auto block = [](std::int64_t side) {
      const std::int64_t values = channels * side * side;
      return BlockValues{values, values, values};
    };
    return {block(8), block(4), block(4)};
  }
  constexpr std::int64_t values = places * width;
  const BlockValues attention{values, values, 4 * values}, mlp{values, values, values};
  return {attention, mlp, attention, mlp};
}

/// Each image goes forward and back once in an epoch, and each test image forward after it: through each block with a sum
/// of the output on its way forward and of the input's gradient on its way back, by any textbook way. At least, each of
/// these sums must arrive.
std::vector<CostBound> training_bounds(const SmallTraining& training, const CasePlace& place) {
  Traffic traffic;
  std::int64_t hidden = 0, least_values = 0;
  const std::int64_t images = kNumTrainingEpochs * training.num_train, tests = kNumTrainingEpochs * training.num_test;
  for (const BlockValues& block : list_blocks(training.model)) {
    traffic.all_reduces.insert(traffic.all_reduces.end(), {(images + tests) * (block.out + block.statistics),
                                                           images * (block.in + block.statistics)});
    hidden += (2 * images + tests) * block.hidden;
    least_values += (images + tests) * block.out + images * block.in;
  }
  std::vector<CostBound> bounds = generously(training.task, traffic, hidden, place.size);
  if (place.size > 1) bounds.back().min_bytes_received = static_cast<std::uint64_t>(least_values) * sizeof(double);
  return bounds;
}

/// The products of the shards, and of the layers that every rank runs whole, forward and back; three fifths more
/// for what is not a product or is recomputed, and a quarter for norms, softmax and what every rank does with whole
/// tensors.
ShareBound training_work(const SmallTraining& training, const CasePlace& place) {
  double shared = 0, whole = 0;
  for (const LayerSpec& layer : model_named(training.model).layers) {
    const bool is_split = std::any_of(layer.parameters.begin(), layer.parameters.end(),
                                      [](const ParameterSpec& spec) { return spec.split_dim >= 0; });
    (is_split ? shared : whole) += layer.multiply_adds;
  }
  const auto passes = static_cast<double>(kNumTrainingEpochs * (3 * training.num_train + training.num_test));
  const double all = 2 * passes * (shared + whole), own = 2 * passes * (shared / place.size + whole);
  return {static_cast<std::int64_t>(all), static_cast<std::int64_t>(1.6 * own + 0.25 * all)};
}

/// Trained by the same gradients, what every rank has whole stays the same on all of them.
std::vector<std::string> whole_tensors(const SmallTraining& training) {
  std::vector<std::string> names = {"losses", "test_losses", "predictions"};
  for (const LayerSpec& layer : model_named(training.model).layers) {
    for (const ParameterSpec& spec : layer.parameters) {
      if (spec.split_dim >= 0) continue;
      for (std::int64_t epoch = 1; epoch <= kNumTrainingEpochs; ++epoch)
        names.push_back(fmt::format("epoch{}.{}", epoch, spec.name));
    }
  }
  return names;
}

Case training_case(const SmallTraining& training) {
  Case result;
  result.task = training.task;
  result.name = result.prefix = training.name;
  result.once = "a whole training, of many steps";
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
  result.bounds = [=](const CasePlace& place) { return training_bounds(training, place); };
  result.work = [=](const CasePlace& place) { return training_work(training, place); };
  result.same_on_all_ranks = whole_tensors(training);
  const OncePerWorld<TrainingRecord> alone([=](int size, std::uint64_t seed) {
    const CaseInputs inputs = training_inputs(training, {0, size, seed});
    const TrainingOptions options = tensor_training_options(training.model, inputs);
    const auto single = single_process(options);
    return run_training(options, make_dataset(inputs), *single, nullptr, {});
  });
  result.expected = [=](const CasePlace& place) {
    TrainingRecord record = *alone.at(place);
    for (TensorMap& tensors : record.parameters)
      tensors = take_shard(model_named(training.model), tensors, place.rank, place.size);
    return list_tensors(record);
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
