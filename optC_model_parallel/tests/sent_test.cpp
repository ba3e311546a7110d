#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/rank/sent_tensors.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"

// Initial weights and the order of images as the program of a judged rank has them.
namespace lab::optc {
namespace {

constexpr std::uint64_t kTaskSeed = 5;  // nothing follows from it
constexpr std::int64_t kNumImages = 10;

Images some_images(std::int64_t count, std::uint64_t seed) {
  return {seeded_rand({count, kImageChannels, kImageSide, kImageSide}, seed).mul(256).to(at::kByte),
          at::arange(count, at::kLong).remainder(kNumClasses)};
}

/// Inputs such as the judge sends: with this seed the tasks are called, from others these were drawn.
CaseInputs some_inputs(const ModelSpec& model) {
  CaseInputs inputs;
  inputs.seed = kTaskSeed;
  inputs.numbers = {{"batch_size", 4}, {"learning_rate", 0.05}};
  const Images train = some_images(kNumImages, 1), test = some_images(4, 2);
  inputs.tensors = {{"input.train.pixels", train.pixels},
                    {"input.train.labels", train.labels},
                    {"input.test.pixels", test.pixels},
                    {"input.test.labels", test.labels}};
  std::uint64_t seed = 10;
  for (const LayerSpec& layer : model.layers) {
    for (const ParameterSpec& spec : layer.parameters)
      inputs.tensors["weight." + spec.name] = seeded_randn(spec.shape, ++seed, at::kDouble).mul_(0.1);
  }
  for (std::int64_t epoch = 0; epoch < kNumTrainingEpochs; ++epoch)
    inputs.tensors[fmt::format("input.order{}", epoch)] = at::arange(kNumImages, at::kLong).roll({3 + epoch}, {0});
  return inputs;
}

std::string refused(const std::function<void()>& draw) {
  return testing::get_message<UsageError>(draw);
}

TEST_CASE("a judged rank starts from the weights and takes the images in the order that it was sent") {
  const ModelSpec model = model_named("tutorial");
  const CaseInputs inputs = some_inputs(model);
  const SentTensors sent(inputs);
  for (const auto& [name, tensor] : named(model, first_parameters(model, kTaskSeed, at::kDouble)))
    CHECK(at::equal(tensor, inputs.tensor("weight." + name)));
  CHECK(at::equal(EpochBatches(kNumImages, kNumImages, kTaskSeed, 1).indices(0), inputs.tensor("input.order1")));
}

TEST_CASE("a judged rank cannot draw another rank's weights, or anything from another seed") {
  const ModelSpec model = model_named("tutorial");
  CaseInputs inputs = some_inputs(model);
  inputs.tensors.erase("weight.fc1.weight");
  const SentTensors sent(inputs);
  CHECK(contains(refused([&] { first_parameters(model, kTaskSeed, at::kDouble); }),
                 "asked for 'weight.fc1.weight' [120, 400]"));
  CHECK_NOTHROW(first_parameters(take_part(model, {0, 2}), kTaskSeed, at::kDouble));
  CHECK(contains(refused([&] { first_parameters(take_part(model, {0, 2}), 42, at::kDouble); }), "another seed"));
  CHECK(contains(refused([] { epoch_order(kNumImages, 42, 0); }), "another seed"));
  CHECK(contains(refused([] { epoch_order(kNumImages + 1, kTaskSeed, 0); }), "this rank was sent [10]"));
}

/// What a training returns on each of 2 ranks, which were sent what `keep` leaves of the inputs.
std::vector<TensorMap> trained(const std::string& task, const ModelSpec& model,
                               const std::function<void(int rank, TensorMap&)>& keep) {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
    CaseInputs inputs = some_inputs(model);
    keep(comm.rank(), inputs.tensors);
    const SentTensors sent(inputs);
    return calls().at(task)(comm, inputs);
  });
  CHECK_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
  std::vector<TensorMap> results;
  for (const launch::RankOutcome& rank : outcome.ranks) results.push_back(rank.tensors);
  return results;
}

void check_same(const std::vector<TensorMap>& results, const std::vector<TensorMap>& expected) {
  REQUIRE(results.size() == expected.size());
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    CHECK(results[rank].size() == expected[rank].size());
    for (const auto& [name, tensor] : results[rank]) CHECK(at::equal(tensor, expected[rank].at(name)));
  }
}

TEST_CASE("the reference trains in stages with the pixels on the first rank only, and the labels on the last") {
  const ModelSpec model = model_named("tutorial");
  const auto keep_own = [&](int rank, TensorMap& inputs) {
    const char* const others = rank == 0 ? "labels" : "pixels";
    for (const std::string images : {"input.train.", "input.test."}) poison_(inputs.at(images + others));
    // The first stage may have all layers but the last, and the last stage all but the first.
    const std::vector<ParameterSpec>& foreign = (rank == 0 ? model.layers.back() : model.layers.front()).parameters;
    for (const ParameterSpec& spec : foreign) inputs.erase("weight." + spec.name);
  };
  check_same(trained("optC.pipeline_training", model, keep_own),
             trained("optC.pipeline_training", model, [](int, TensorMap&) {}));
}

TEST_CASE("the reference trains with its own shards of each split layer") {
  const ModelSpec model = model_named("pair-norm");
  const auto keep_own = [&](int rank, TensorMap& inputs) {
    for (const LayerSpec& layer : model.layers) {
      for (const ParameterSpec& spec : layer.parameters) {
        if (spec.split_dim < 0) continue;
        at::Tensor& whole = inputs.at("weight." + spec.name);
        whole = only_part(whole, spec.split_dim, even_slice(whole.size(spec.split_dim), 2, rank));
      }
    }
  };
  check_same(trained("optC.tensor_training", model, keep_own),
             trained("optC.tensor_training", model, [](int, TensorMap&) {}));
}

}  // namespace
}  // namespace lab::optc
