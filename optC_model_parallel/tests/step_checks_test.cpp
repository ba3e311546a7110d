#include "optC_model_parallel/commands/step_checks.h"

#include <algorithm>

#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/cases/reference/exact_step.h"
#include "optC_model_parallel/commands/float32_checks.h"
#include "optC_model_parallel/model/data/batches.h"
#include "optC_model_parallel/model/data/generated_images.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/models.h"

// Float32 trainings: correct ones pass whatever a ReLU at a tie decides, and wrong ones fail.
namespace lab::optc {
namespace {

using Steps = std::vector<std::int64_t>;

TrainingRun float32_run(const std::string& name, std::uint64_t seed) {
  TrainingOptions training;
  training.dtype = at::kFloat;
  training.seed = seed;
  training.num_epochs = 2;
  training.batch_size = 8;
  return run_named(name, training, {});
}

/// Trains on all ranks and returns each rank's findings: right or not, steps, the largest distance.
std::vector<std::vector<double>> findings(const TrainingRun& run, int num_ranks) {
  const Dataset data = generated_images(37, 20, run.training.seed);
  const launch::WorldOutcome outcome = launch::run_ranks(threads(num_ranks), [&](Communicator& comm) {
    const std::unique_ptr<Strategy> strategy = parallel_strategy(run, comm);
    TrainingEvents events;
    Float32Checks checks(run, data, *strategy, comm, events);
    checks.finish(run_training(run.training, data, *strategy, nullptr, events));
    const double distance = together(checks.steps(), {}).gradients.relative_norm;
    return TensorMap{
        {"found", at::tensor({checks.all_right() ? 1.0 : 0.0, static_cast<double>(checks.steps().size()), distance})}};
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<std::vector<double>> all;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const at::Tensor found = rank.tensors.at("found").to(at::kDouble);
    all.push_back({found[0].item<double>(), found[1].item<double>(), found[2].item<double>()});
  }
  return all;
}

TEST_CASE("a right float32 training is right, with every schedule and model, on any number of ranks") {
  const std::vector<std::pair<std::string, int>> runs = {
      {"gpipe", 1},         {"gpipe", 4}, {"1f1b", 3},      {"interleaved", 2}, {"pipedream", 4}, {"pipedream-sync", 3},
      {"pipedream-2bw", 2}, {"pair", 5},  {"pair-norm", 2}, {"vit", 2},         {"resnet", 3}};
  for (const auto& [name, num_ranks] : runs) {
    CAPTURE(name);
    for (const std::vector<double>& of_rank : findings(float32_run(name, 3), num_ranks)) {
      CHECK(of_rank[0] == 1);
      CHECK(of_rank[1] == 10);
      CHECK(of_rank[2] > 1e-9);  // it was compared with float64, not with itself
    }
  }
}

/// The check of one step's gradient, with the initial weights of the model `deep`.
struct OneStep {
  OneStep() : run(float32_run("gpipe", 1)), images(generated_images(8, 0, 1).train) {
    run.training.model = "deep";
    run.training.num_epochs = 1;
    model = model_named("deep");
    weights = named(model, first_parameters(model, 1, at::kFloat));
  }

  at::Tensor indices() const { return EpochBatches(images.size(), run.training.batch_size, 1, 0).indices(0); }
  TensorMap gradient(std::optional<std::uint64_t> perturbed_by = std::nullopt) const {
    return exact_step(model, weights, images, indices(), perturbed_by).gradient;
  }

  StepCheck check(const TensorMap& used_weights, const TensorMap& gradient) const {
    std::optional<StepCheck> found;
    const launch::WorldOutcome outcome = launch::run_ranks(threads(1), [&](Communicator& comm) {
      Learner learner(model, first_parameters(model, 1, at::kFloat), {});
      learner.load_state(used_weights);
      const std::vector<std::string> names = learning_names(model);
      const Tensors tensors = learning(model, learner.parameters());
      for (std::size_t i = 0; i < names.size(); ++i) tensors[i].mutable_grad() = gradient.at(names[i]).to(at::kFloat);
      StepRecorder recorder({0}, [](std::int64_t step) { return step; });
      recorder.before_update(learner);
      found = check_steps(run, images, recorder, comm).front();
      return TensorMap{};
    });
    REQUIRE_FALSE(outcome.failure);
    return *found;
  }

  TrainingRun run;
  Images images;
  ModelSpec model;
  TensorMap weights;
};

TEST_CASE("a gradient that is 20 % off, of m losses that were not divided, or without one layer is wrong in float32") {
  const OneStep step;
  const TensorMap right = step.gradient();
  CHECK(step.check(step.weights, right).gradient.close);
  for (const double factor : {1.2, 0.8, 4.0, 1.05, 0.0}) {
    CAPTURE(factor);
    TensorMap wrong = right;
    for (auto& [name, tensor] : wrong) tensor = tensor * factor;
    CHECK_FALSE(step.check(step.weights, wrong).gradient.close);
  }
  TensorMap wrong = right;
  wrong["conv4.weight"] = at::zeros_like(wrong["conv4.weight"]);
  CHECK_FALSE(step.check(step.weights, wrong).gradient.close);
}

TEST_CASE("the gradient of weights that are one update old is wrong in float32") {
  const OneStep step;
  TensorMap next = step.weights;
  for (const auto& [name, gradient] : step.gradient()) next[name] = next[name] - 0.01 * gradient.to(at::kFloat);
  CHECK_FALSE(step.check(next, step.gradient()).gradient.close);
  // Of one layer only.
  TensorMap only_one = step.weights;
  only_one["conv2.weight"] = next["conv2.weight"];
  CHECK_FALSE(step.check(only_one, step.gradient()).gradient.close);
}

TEST_CASE("a ReLU at a tie may be decided either way, and the gradient is right both times") {
  OneStep step;
  // The input of a ReLU of fc2, of the first image that has a gradient there, becomes 0 up to rounding.
  const auto at_fc2 = [&](const TensorMap& weights) {
    ModelSpec front = part_of(step.model, {0, 7});
    TensorMap exact;
    for (const auto& [name, tensor] : weights) exact[name] = tensor.to(at::kDouble);
    Parameters parameters = first_parameters(front, 1, at::kDouble);
    assign(front, parameters, exact);
    const at::Tensor x = normalized(step.images, step.indices(), at::kDouble);
    const at::Tensor h = run_layers(part_of(front, {0, 6}), {{parameters.layers.begin(), parameters.layers.end() - 1}},
                                    x, Mode::kTraining);
    return at::linear(h, parameters.layers.back()[0], parameters.layers.back()[1]).detach();
  };
  const std::int64_t unit = 5;
  const at::Tensor before = at_fc2(step.weights);
  step.weights["fc2.bias"] = step.weights["fc2.bias"].clone();
  step.weights["fc2.bias"][unit] -= before[0][unit].item<double>();
  REQUIRE(at_fc2(step.weights)[0][unit].abs().item<double>() < 1e-6);
  const TensorMap weights = step.weights;
  std::vector<TensorMap> gradients;
  for (const double side : {1e-6, -1e-6}) {
    step.weights["fc2.bias"] = weights.at("fc2.bias").clone();
    step.weights["fc2.bias"][unit] += side;
    gradients.push_back(step.gradient());
  }
  double largest = 0;
  for (const TensorMap& gradient : gradients) {
    const StepCheck found = step.check(weights, gradient);
    CHECK(found.gradient.close);
    largest = std::max(largest, found.gradient.relative_norm);
  }
  CHECK(largest > 1e-4);  // the sides differ by far more than rounding
}

TEST_CASE("a gradient is right in float32 also where the model is almost certain and few digits are left of it") {
  OneStep step;
  const Images many = generated_images(200, 0, 1).train;
  const at::Tensor of_class = many.labels.eq(3).nonzero().flatten().narrow(0, 0, 8);
  step.images = {many.pixels.index_select(0, of_class), many.labels.index_select(0, of_class)};
  step.weights["fc3.bias"] = at::zeros({kNumClasses}, at::kFloat);
  step.weights["fc3.bias"][3] = 12;
  Parameters parameters = first_parameters(step.model, 1, at::kFloat);
  assign(step.model, parameters, step.weights);
  const at::Tensor x = normalized(step.images, step.indices(), at::kFloat);
  at::cross_entropy_loss(run_layers(step.model, parameters, x, Mode::kTraining), labels_of(step.images, step.indices()))
      .backward();
  TensorMap gradient;
  const std::vector<std::string> names = learning_names(step.model);
  const Tensors tensors = learning(step.model, parameters);
  for (std::size_t i = 0; i < names.size(); ++i) gradient[names[i]] = tensors[i].grad();
  const StepCheck right = step.check(step.weights, gradient);
  CHECK(right.gradient.close);
  CHECK(right.gradient.relative_norm > 1e-4);
  for (auto& [name, tensor] : gradient) tensor = tensor * 1.2;
  CHECK_FALSE(step.check(step.weights, gradient).gradient.close);
}

TEST_CASE("PipeDream's steps are checked with the versions that each stage used, and with no others") {
  const TrainingRun run = float32_run("pipedream", 1);
  const auto first = version_of(run, 0, 4, 10), last = version_of(run, 3, 4, 10);
  Steps versions;
  for (const std::int64_t step : {0, 2, 3, 4, 9, 10, 14}) versions.push_back(first(step));
  CHECK(versions == Steps{0, 0, 0, 1, 6, 10, 11});
  CHECK(last(4) == 4);
  TrainingRun drained = run;
  drained.checkpoint_every = 4;
  CHECK(version_of(drained, 0, 4, 10)(7) == 4);
  CHECK(version_of(drained, 0, 4, 10)(8) == 8);
  CHECK(version_of(float32_run("gpipe", 1), 0, 4, 10)(7) == 7);
  TrainingRun misnamed = run;  // trained with PipeDream's versions, checked with those of vertical sync
  const Dataset data = generated_images(37, 20, 1);
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
    const std::unique_ptr<Strategy> strategy = parallel_strategy(run, comm);
    misnamed.pipeline.schedule = "pipedream-sync";
    StepRecorder recorder({3, 4}, version_of(misnamed, comm.rank(), comm.size(), 5));
    strategy->watch([&](const Learner& learner) { recorder.before_update(learner); });
    run_training(run.training, data, *strategy, nullptr, {});
    const auto found = together(check_steps(misnamed, data.train, recorder, comm), {});
    return TensorMap{{"close", at::tensor({found.gradients.close ? 1.0 : 0.0})}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.at("close").item<double>() == 0);
}

TEST_CASE("of each epoch the first, the last, and some steps between are recorded, those before a checkpoint not") {
  CHECK(steps_to_record(2, 3) == Steps{0, 1, 2, 3, 4, 5});
  CHECK(steps_to_record(1, 48) == Steps{0, 6, 13, 20, 26, 33, 40, 47});
  CHECK(steps_to_record(1000, 48).size() == 2000);
  CHECK(steps_to_record(2, 1) == Steps{0, 1});
  CHECK(steps_to_record(0, 5).empty());
  StepRecorder recorder(steps_to_record(2, 3), [](std::int64_t step) { return step; });
  recorder.start(4);
  CHECK(recorder.steps() == Steps{4, 5});
  const OneStep step;
  Learner learner(step.model, first_parameters(step.model, 1, at::kFloat), {});
  recorder.before_update(learner);
  CHECK(recorder.recorded(4).weights.size() == step.weights.size());
  CHECK(recorder.recorded(5).weights.empty());  // an update that never came
}

TEST_CASE("a prediction is right where its logit is the largest up to rounding, however few images there are") {
  const at::Tensor logits = at::tensor({2.0, 1.0, 2.0 - 1e-6, 2.0, 1.0, 1.9}, at::kDouble).view({2, 3});
  const auto wrong = [&](std::int64_t first, std::int64_t second) {
    return wrong_predictions(at::tensor({first, second}, at::kLong), logits).sum().item<std::int64_t>();
  };
  CHECK(wrong(0, 0) == 0);
  CHECK(wrong(2, 0) == 0);
  CHECK(wrong(1, 0) == 1);
  CHECK(wrong(2, 2) == 1);
}

}  // namespace
}  // namespace lab::optc
