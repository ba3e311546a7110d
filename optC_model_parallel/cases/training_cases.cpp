#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/api/errors.h"
#include "common/checks/once_per_world.h"
#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"

namespace lab::optc {
namespace {

/// A whole training, compared with the one in one process by the norm of each result.
Case training_case(const std::string& task, const std::string& name) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.once = "a whole training, of many steps";
  result.tolerance = by_norm(1e-10);
  return result;
}

// A training in stages. The last batch of an epoch has 8 images, the others 32; fewer batches for the deep model.

constexpr int kMostPipelineRanks = 8;
constexpr std::int64_t kNumTestImages = 24;

Dataset pipeline_data(const CasePlace& place) {
  return generated_images(place.size <= 5 ? 104 : 40, kNumTestImages, place.seed);
}

ModelSpec pipeline_model(const CasePlace& place) {
  return model_named(pipeline_training_options(place.size, place.seed).model);
}

/// split_layers() decides which layers a rank has, and which it chooses among equally good splits is its own business:
/// every rank before it has at least one layer, and so has every rank after it.
Slice possible_layers(const ModelSpec& model, int rank, int size) {
  return {rank, static_cast<std::int64_t>(model.layers.size()) - size + 1};
}

/// A judged rank is sent the layers that it may have.
void keep_possible_layers(const CasePlace& place, TensorMap& inputs) {
  const ModelSpec model = pipeline_model(place);
  for (const char* images : {"input.train.", "input.test."}) keep_images_of_ends(images, place, inputs);
  add_first_weights(take_part(model, possible_layers(model, place.rank, place.size)), place.seed, inputs);
  add_orders(inputs.at("input.train.labels").size(0), kNumTrainingEpochs, place.seed, inputs);
}

/// How many batches and images of training, and how many test images, go through the model.
struct Traversals {
  explicit Traversals(const CasePlace& place) {
    const std::int64_t num_train = pipeline_data(place).train.size();
    num_images = kNumTrainingEpochs * num_train;
    num_steps = kNumTrainingEpochs * num_batches(num_train, TrainingOptions().batch_size);
  }

  std::int64_t num_steps, num_images, num_test_images = kNumTrainingEpochs * kNumTestImages;
};

/// Each micro-batch of each step once over each border, in each direction; the test images forward, after each epoch in
/// one batch. Which border it is, split_layers() decides: at most the widest of those that it may be.
std::vector<CostBound> pipeline_training_bounds(const CasePlace& place) {
  const ModelSpec model = pipeline_model(place);
  const Traversals passes(place);
  std::int64_t messages = 0, most_values = 0, least_values = 0;
  for (const bool after : {false, true}) {  // the border after this rank, or the one before it
    if (place.rank == (after ? place.size - 1 : 0)) continue;
    std::int64_t most = 0, least = std::numeric_limits<std::int64_t>::max();
    const ModelSpec before_border = take_part(model, possible_layers(model, place.rank - (after ? 0 : 1), place.size));
    for (const LayerSpec& layer : before_border.layers) {
      most = std::max(most, c10::multiply_integers(layer.out_shape));
      least = std::min(least, c10::multiply_integers(layer.out_shape));
    }
    messages += passes.num_steps * kTrainingMicroBatches + (after ? kNumTrainingEpochs : 0);
    most_values += most * (passes.num_images + (after ? passes.num_test_images : 0));
    least_values += least * passes.num_images;
  }
  CostBound own;
  own.operation = "optC.pipeline_training";
  own.min_messages = own.max_messages = static_cast<std::uint64_t>(messages);
  own.max_bytes_sent = static_cast<std::uint64_t>(most_values) * sizeof(double);
  own.min_bytes_received = static_cast<std::uint64_t>(least_values) * sizeof(double);
  // The call joins the trained tensors, not the student.
  std::vector<std::int64_t> joined;
  for (const ParameterSpec& spec : parameter_specs(model))
    joined.insert(joined.end(), kNumTrainingEpochs, c10::multiply_integers(spec.shape));
  std::vector<CostBound> bounds = messages_and_sums(joined, place.size);
  bounds.insert(bounds.begin(), own);
  return bounds;
}

/// Three times the products of the layers that a rank may have, and once for the test images; a quarter more for what is
/// not a product, and an update of each weight. The last layer is small; what is computed of its outputs, several losses
/// and their gradients, is not.
ShareBound pipeline_training_work(const CasePlace& place) {
  constexpr std::int64_t kPerWeight = 12, kPerLogit = 500;
  const ModelSpec model = pipeline_model(place);
  const Traversals passes(place);
  const auto count_flops = [&](const ModelSpec& layers) {
    const std::int64_t products =
        2 * static_cast<std::int64_t>(layers.multiply_adds()) * (3 * passes.num_images + passes.num_test_images);
    return products + products / 4 + kPerWeight * layers.num_parameters() * passes.num_steps +
           kPerLogit * layers.layers.back().out_shape.front() * (passes.num_images + passes.num_test_images);
  };
  return {count_flops(model), count_flops(take_part(model, possible_layers(model, place.rank, place.size)))};
}

}  // namespace

Case pipeline_training_case() {
  Case result = training_case("optC.pipeline_training", "PipelineTraining");
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.seed = place.seed;
    inputs.tensors = make_inputs(pipeline_data(place));
    return inputs;
  };
  result.keep_own_part = keep_possible_layers;
  const OncePerWorld<TrainingRecord> alone([](int size, std::uint64_t seed) {
    const TrainingOptions options = pipeline_training_options(size, seed);
    return run_training(options, pipeline_data({0, size, seed}), *single_process(options));
  });
  result.expected = [alone](const CasePlace& place) {
    return pipeline_training_results(*alone.at(place), place.rank == place.size - 1);
  };
  result.bounds = pipeline_training_bounds;
  result.work = pipeline_training_work;
  result.skip_reason = [](int size) {
    return size <= kMostPipelineRanks ? "" : fmt::format("the deepest model here has {} layers", kMostPipelineRanks);
  };
  return result;
}

namespace {

/// A training with split layers. The last batch of each epoch is smaller.
struct SmallTraining {
  std::string task, name, model;
  std::int64_t num_train, num_test, batch_size;
};

CaseInputs training_inputs(const SmallTraining& training, const CasePlace& place) {
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.tensors = make_inputs(generated_images(training.num_train, training.num_test, place.seed));
  inputs.numbers = {{"batch_size", static_cast<double>(training.batch_size)}, {"learning_rate", 0.05}};
  return inputs;
}

/// A judged rank is sent its own shards, with the rest of each split tensor poisoned. The images are every rank's: all
/// take whole batches, and what is not split is computed on each of them.
void keep_shards(const SmallTraining& training, const CasePlace& place, TensorMap& inputs) {
  const ModelSpec model = model_named(training.model);
  add_first_weights(model, place.seed, inputs);
  for (const ParameterSpec& spec : parameter_specs(model)) {
    if (spec.split_dim < 0) continue;
    at::Tensor& whole = inputs.at("weight." + spec.name);
    whole = only_part(whole, spec.split_dim, even_slice(whole.size(spec.split_dim), place.size, place.rank));
  }
  add_orders(training.num_train, kNumTrainingEpochs, place.seed, inputs);
}

/// What a split block of a model has for one image.
struct BlockValues {
  std::int64_t in = 0, out = 0;  ///< whole on every rank
  std::int64_t hidden = 0;       ///< in between, split over ranks
  std::int64_t statistics = 0;   ///< of a split norm: sums over ranks, each way
};

/// Of models.h: pair-norm's one block; resnet's of 24 channels; vit's attention and mlp, at 64 positions, 48 wide.
std::vector<BlockValues> list_blocks(const std::string& model) {
  if (model == "pair-norm") return {{400, 84, 120, 2}};
  constexpr std::int64_t first = 24 * 8 * 8, other = 24 * 4 * 4, values = 64 * 48;
  if (model == "resnet") return {{first, first, first}, {other, other, other}, {other, other, other}};
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
std::vector<std::string> whole_results(const SmallTraining& training) {
  std::vector<std::string> names = {"losses", "test_losses", "predictions"};
  for (const ParameterSpec& spec : parameter_specs(model_named(training.model))) {
    for (std::int64_t epoch = 1; spec.split_dim < 0 && epoch <= kNumTrainingEpochs; ++epoch)
      names.push_back(fmt::format("epoch{}.{}", epoch, spec.name));
  }
  return names;
}

Case tensor_training_case(const SmallTraining& training) {
  Case result = training_case(training.task, training.name);
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
  result.same_on_all_ranks = whole_results(training);
  const OncePerWorld<TrainingRecord> alone([=](int size, std::uint64_t seed) {
    const CaseInputs inputs = training_inputs(training, {0, size, seed});
    const TrainingOptions options = tensor_training_options(training.model, inputs);
    return run_training(options, make_dataset(inputs), *single_process(options));
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
  return {tensor_training_case({"optC.tensor_training", "TensorTraining", "pair-norm", 72, 24, 16}),
          tensor_training_case({"optC.transformer_training", "TransformerTraining", "vit", 12, 4, 5}),
          tensor_training_case({"optC.resnet_training", "ResnetTraining", "resnet", 12, 4, 5})};
}

}  // namespace lab::optc
