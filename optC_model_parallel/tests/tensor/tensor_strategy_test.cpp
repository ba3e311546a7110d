#include <limits>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training.h"

// Trainings of shards compared with the same ones in one process, to ten digits.
namespace lab::optc {
namespace {

TrainingOptions make_options(const std::string& model, const std::string& optimizer) {
  TrainingOptions options;
  options.model = model;
  options.batch_size = 8;
  options.num_epochs = 2;
  options.optimizer.kind = optimizer;
  options.optimizer.learning_rate = optimizer == "adam" ? 1e-3 : 0.05;
  return options;
}

Dataset few_images() {
  return generated_images(20, 10, 3);
}

bool fits(const TrainingOptions& options, int size) {
  try {
    check_tensor(options, size);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

launch::WorldOutcome train_on_ranks(const TrainingOptions& options, int size) {
  return launch::run_ranks(threads(size), [&](Communicator& comm) {
    return list_tensors(run_training(options, few_images(), *tensor_parallel(options, comm), nullptr, {}));
  });
}

/// This rank's expected part of the single process's record.
TensorMap compute_share(TrainingRecord record, const TrainingOptions& options, int rank, int size) {
  for (TensorMap& tensors : record.parameters) tensors = take_shard(model_named(options.model), tensors, rank, size);
  return list_tensors(record);
}

void check_like_single(const TrainingOptions& options, const std::vector<int>& sizes) {
  CAPTURE(options.model);
  const TrainingRecord single = run_training(options, few_images(), *single_process(options), nullptr, {});
  REQUIRE(single.losses.size() == 6);
  for (const int size : sizes) {
    CAPTURE(size);
    const launch::WorldOutcome outcome = train_on_ranks(options, size);
    if (outcome.failure) FAIL(outcome.failure->message);
    for (int rank = 0; rank < size; ++rank) {
      const TensorMap& own = outcome.ranks[static_cast<std::size_t>(rank)].tensors;
      const TensorMap expected = compute_share(single, options, rank, size);
      REQUIRE(own.size() == expected.size());
      for (const auto& [name, tensor] : expected) {
        CAPTURE(name);
        REQUIRE(own.count(name) == 1);
        CHECK(compare(own.at(name), tensor, {0, std::numeric_limits<double>::infinity(), 1e-10}).close);
      }
    }
  }
}

TEST_CASE("pair and pair-norm, split over 1 2 3 4 5 8 ranks, train as in one process") {
  check_like_single(make_options("pair", "sgd"), {1, 2, 3, 4, 5, 8});
  check_like_single(make_options("pair-norm", "sgd"), {2, 3, 5});
  check_like_single(make_options("pair-norm", "adam"), {4});
}

TEST_CASE("a Transformer and a residual network do, too, with SGD and with Adam") {
  check_like_single(make_options("vit", "sgd"), {2});
  check_like_single(make_options("vit", "adam"), {4});
  check_like_single(make_options("resnet", "sgd"), {3});
  check_like_single(make_options("resnet", "adam"), {2, 8});
}

TEST_CASE("every rank knows losses and answers, and has the same bits of what is whole") {
  const TrainingOptions options = make_options("pair-norm", "sgd");
  const launch::WorldOutcome outcome = train_on_ranks(options, 4);
  if (outcome.failure) FAIL(outcome.failure->message);
  const TensorMap& first = outcome.ranks[0].tensors;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    for (const char* name : {"losses", "test_losses", "predictions", "epoch2.conv1.weight", "epoch2.fc2.bias"}) {
      CAPTURE(name);
      CHECK(rank.tensors.at(name).equal(first.at(name)));
    }
  }
}

TEST_CASE("a state put back trains on to the same bits") {
  const TrainingOptions options = make_options("pair-norm", "adam");
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
    const Dataset data = few_images();
    const EpochBatches batches(data.train.size(), options.batch_size, options.seed, 0);
    const auto strategy = tensor_parallel(options, comm);
    strategy->train(data.train, batches, {0, 1}, [](double) {});
    const TensorMap state = strategy->state();
    strategy->train(data.train, batches, {1, 2}, [](double) {});
    const auto again = tensor_parallel(options, comm);
    again->load_state(state);
    again->train(data.train, batches, {1, 2}, [](double) {});
    bool same = true;
    const TensorMap expected = strategy->parameters();
    for (const auto& [name, tensor] : again->parameters()) same = same && tensor.equal(expected.at(name));
    return TensorMap{{"same", at::full({1}, same, at::kBool)}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.at("same").item<bool>());
}

std::string find_refusal(const std::string& model, int num_ranks) {
  TrainingOptions options;
  options.model = model;
  return testing::get_message([&] { check_tensor(options, num_ranks); });
}

TEST_CASE("numbers of ranks that do not divide are refused, with those that would work") {
  CHECK(
      find_refusal("pair", 7) ==
      "--model pair: fc1.weight [120, 400] cannot be split evenly over 7 ranks along dimension 0; hint: 1, 2, 3, 4, 5, "
      "6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 120 ranks");
  CHECK(find_refusal("vit", 3) ==
        "--model vit: block1.q.weight [48, 48] cannot be split evenly over 3 ranks along dimension 0 in whole pieces "
        "of 12; hint: 1, 2, 4 ranks");
  CHECK(find_refusal("resnet", 5) ==
        "--model resnet: residual1.conv_in.weight [24, 24, 3, 3] cannot be split evenly over 5 ranks along dimension "
        "0; hint: 1, 2, 3, 4, 6, 8, 12, 24 ranks");
  CHECK(find_refusal("tutorial", 2) ==
        "--model tutorial: expected one of pair, pair-norm, vit, resnet for tensor parallelism");
  for (const int size : {1, 2, 4}) {
    for (const std::string& model : tensor_model_names()) CHECK(fits(make_options(model, "sgd"), size));
  }
}

TEST_CASE("a strategy is refused likewise, before anything is sent") {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [](Communicator& comm) {
    tensor_parallel(make_options("vit", "sgd"), comm);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kUsage));
}

}  // namespace
}  // namespace lab::optc
