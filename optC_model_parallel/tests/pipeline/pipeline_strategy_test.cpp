#include <algorithm>

#include "common/api/compare.h"
#include "common/testing/case_runs.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training.h"

// Trainings in stages compared with trainings in one process: losses, weights, logits, and resuming.
namespace lab::optc {
namespace {

constexpr std::int64_t kImages = 41, kBatch = 8;  // five batches of 8 and one of 1

/// Three steps, a pause, and the other three.
std::vector<double> train_all(Strategy& strategy, const Images& images) {
  const EpochBatches batches(kImages, kBatch, 3, 0);
  std::vector<double> losses;
  for (const Slice& steps : {Slice{0, 3}, Slice{3, 3}})
    strategy.train(images, batches, steps, [&](double loss) { losses.push_back(loss); });
  return losses;
}

/// A training's results: weights, losses as "losses", and "logits" of 260 images, slightly more than a batch.
TensorMap left_by(Strategy& strategy) {
  const Images images = random_images(kImages, 17), many = random_images(260, 18);
  const std::vector<double> losses = train_all(strategy, images);
  TensorMap results = strategy.parameters();
  const at::Tensor logits = strategy.logits(many);
  if (!losses.empty()) results["losses"] = at::tensor(losses, at::kDouble);
  if (logits.defined()) results["logits"] = logits;
  return results;
}

/// The largest relative difference over what all ranks together have; NaN if something is missing or there twice.
double difference(const std::vector<launch::RankOutcome>& ranks, const TensorMap& expected) {
  TensorMap all;
  std::size_t count = 0;
  for (const launch::RankOutcome& rank : ranks) {
    count += rank.tensors.size();
    all.insert(rank.tensors.begin(), rank.tensors.end());
  }
  if (count != expected.size() || all.size() != expected.size()) return std::numeric_limits<double>::quiet_NaN();
  double worst = 0;
  for (const auto& [name, tensor] : expected) worst = std::max(worst, compare(all.at(name), tensor).relative_norm);
  return worst;
}

using MakeStrategy = std::function<std::unique_ptr<Strategy>(Communicator&)>;

double difference_on(int num_ranks, const MakeStrategy& make, const TensorMap& expected) {
  const launch::WorldOutcome outcome =
      launch::run_ranks(threads(num_ranks), [&](Communicator& comm) { return left_by(*make(comm)); });
  if (outcome.failure) FAIL(outcome.failure->message);
  return difference(outcome.ranks, expected);
}

TrainingOptions options_for(const OptimizerOptions& optimizer, at::ScalarType dtype = at::kDouble) {
  TrainingOptions options;
  options.dtype = dtype;
  options.batch_size = kBatch;
  options.optimizer = optimizer;
  return options;
}

Learner whole_chain(const StagePlan& plan, const TrainingOptions& options) {
  return {plan.model, first_parameters(plan.model, options.seed, options.dtype), options.optimizer};
}

TEST_CASE("gpipe, 1f1b and interleaved leave what one process leaves, at every world size") {
  for (const int p : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 8})) {
    for (const PipelineOptions& pipeline :
         {PipelineOptions{"gpipe", 3, 1}, PipelineOptions{"gpipe", 5, 1, true}, PipelineOptions{"1f1b", 3, 1},
          PipelineOptions{"1f1b", 10, 1, true}, PipelineOptions{"interleaved", p, 2},
          PipelineOptions{"interleaved", 2 * p, 3, true}}) {
      // Under Adam a gradient that is m times too large changes nothing, so each schedule is tested with both.
      const TrainingOptions options =
          options_for(pipeline.recompute ? OptimizerOptions{"adam", 0.01, 0} : OptimizerOptions{"sgd", 0.05, 0.9});
      const StagePlan plan = chain_plan(p, pipeline.num_chunks);
      const TensorMap expected = left_by(*whole_batches(options, whole_chain(plan, options)));
      INFO(pipeline.schedule << " with " << pipeline.num_micro_batches << " micro-batches on " << p << " ranks");
      CHECK(difference_on(
                p, [&](Communicator& comm) { return pipeline_in_stages(plan, options, pipeline, comm); }, expected) <=
            1e-10);
    }
  }
}

TEST_CASE("stale weights: what the emulation in one process leaves, at every world size") {
  for (const int p : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 8})) {
    const StagePlan plan = chain_plan(p, 1);
    for (const PipelineOptions& pipeline :
         {PipelineOptions{"pipedream", 1, 1}, PipelineOptions{"pipedream-sync", 1, 1},
          PipelineOptions{"pipedream-2bw", p, 1}, PipelineOptions{"pipedream-2bw", p + 3, 1}}) {
      const TrainingOptions options = options_for({"sgd", 0.05, 0.5});
      const TensorMap expected = left_by(*stale_weights(options, pipeline, plan.stages, whole_chain(plan, options)));
      INFO(pipeline.schedule << " with " << pipeline.num_micro_batches << " micro-batches on " << p << " ranks");
      CHECK(difference_on(
                p, [&](Communicator& comm) { return pipeline_in_stages(plan, options, pipeline, comm); }, expected) <=
            1e-10);
    }
  }
}

TEST_CASE("pipeline_parallel: the real models, in stages that split_layers makes") {
  struct Way {
    std::string model;
    PipelineOptions pipeline;
    int num_ranks;
  };
  for (const Way& way : {Way{"tutorial", {"gpipe", 4, 1}, 5}, Way{"deep", {"interleaved", 4, 2}, 4},
                         Way{"deep", {"1f1b", 3, 1, true}, 8}, Way{"tutorial", {"pipedream", 4, 1}, 3},
                         Way{"tutorial", {"pipedream-sync", 4, 1}, 4}, Way{"tutorial", {"pipedream-2bw", 4, 1}, 2}}) {
    TrainingOptions options = options_for({"sgd", 0.01, 0.9});
    options.model = way.model;
    INFO(way.model << ", " << way.pipeline.schedule << " on " << way.num_ranks << " ranks");
    const StagePlan plan = balanced_plan(model_named(way.model), way.num_ranks, way.pipeline.num_chunks);
    const TensorMap expected = left_by(is_asynchronous(way.pipeline.schedule)
                                           ? *stale_weights(options, way.pipeline, plan.stages, whole_learner(options))
                                           : *single_process(options));
    CHECK(difference_on(
              way.num_ranks, [&](Communicator& comm) { return pipeline_parallel(options, way.pipeline, comm); },
              expected) <= 1e-10);
  }
}

TEST_CASE("in float32 a short training stays within rounding of the one in one process") {
  const TrainingOptions options = options_for({"sgd", 0.01, 0.9}, at::kFloat);
  const TensorMap expected = left_by(*single_process(options));
  CHECK(difference_on(
            4,
            [&](Communicator& comm) {
              return pipeline_parallel(options, {"gpipe", 3, 1}, comm);
            },
            expected) <= 1e-5);
}

TEST_CASE("a training that goes on from a kept state is, to the bit, the one that was not broken off") {
  for (const PipelineOptions& pipeline : {PipelineOptions{"1f1b", 3, 1}, PipelineOptions{"interleaved", 2, 2},
                                          PipelineOptions{"pipedream", 1, 1}, PipelineOptions{"pipedream-2bw", 2, 1}}) {
    CAPTURE(pipeline.schedule);
    const launch::WorldOutcome outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
      TrainingOptions options = options_for({"sgd", 0.05, 0.9});
      options.model = "deep";
      const Images images = random_images(kImages, 17);
      const EpochBatches batches(kImages, kBatch, 3, 0);
      const OnLoss no_callback = [](double) {};
      const auto whole = pipeline_parallel(options, pipeline, comm);
      whole->train(images, batches, {0, 2}, no_callback);
      options.seed = 7;  // other first weights, which load_state() must replace
      const auto resumed = pipeline_parallel(options, pipeline, comm);
      resumed->load_state(whole->state());
      for (Strategy* each : {whole.get(), resumed.get()}) each->train(images, batches, {2, 3}, no_callback);
      TensorMap same;
      const TensorMap again = resumed->parameters();
      for (const auto& [name, tensor] : whole->parameters())
        same[name] = at::full({1}, again.count(name) == 1 && again.at(name).equal(tensor), at::kBool);
      same["number"] = at::full({1}, again.size() == whole->parameters().size(), at::kBool);
      return same;
    });
    if (outcome.failure) FAIL(outcome.failure->message);
    for (const launch::RankOutcome& rank : outcome.ranks) {
      CHECK(rank.tensors.size() > 4);
      for (const auto& [name, same] : rank.tensors) {
        CAPTURE(name);
        CHECK(same.item<bool>());
      }
    }
  }
}

TEST_CASE("no steps, no change; an exception in the loss callback ends the training on all ranks") {
  for (const std::string schedule : {"gpipe", "pipedream"}) {
    const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
      const auto strategy = pipeline_parallel(options_for({}), {schedule, 2, 1}, comm);
      const Images images = random_images(kImages, 17);
      const EpochBatches batches(kImages, kBatch, 3, 0);
      const TensorMap before = strategy->parameters();
      strategy->train(images, batches, {2, 0}, [](double) {});
      for (const auto& [name, tensor] : strategy->parameters()) {
        if (!before.at(name).equal(tensor)) throw UsageError("changed");
      }
      strategy->train(images, batches, {0, 6}, [](double) { throw UsageError("the loss is nan"); });
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->message == "rank 2: the loss is nan");
  }
}

TEST_CASE("an unfit pipeline is refused, and so are versions of a schedule that has none") {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(2), [](Communicator& comm) {
    pipeline_parallel({}, {"gpipe", 0, 1}, comm);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(testing::contains(outcome.failure->message, "--micro-batches 0: expected at least 1"));
  CHECK(testing::get_message([] {
          version_rule({"gpipe", 4, 1}, 0, 4);
        }) == "version_rule: expected a schedule with stale weights, got gpipe");
}

}  // namespace
}  // namespace lab::optc
