#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/checkpoint.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"

// An interruption leaves no trace in a training.
namespace lab::optc {
namespace {

using lab::testing::TemporaryFolder;

TrainingOptions four_steps() {
  TrainingOptions options;
  options.batch_size = 10;
  options.num_epochs = 2;
  return options;
}

CheckpointOptions checkpoints_in(const TemporaryFolder& folder) {
  CheckpointOptions options;
  options.folder = folder.file("c");
  options.every = 2;
  options.resume = true;
  return options;
}

using MakeStrategy = std::function<std::unique_ptr<Strategy>()>;

/// Trains, is interrupted during a step, and continues with a new strategy until the end.
TrainingRecord broken_training(const TrainingOptions& options, const Dataset& data, const MakeStrategy& strategy,
                               Checkpoints& checkpoints, std::int64_t break_at) {
  std::int64_t step = 0;
  TrainingEvents events;
  events.on_step = [&](std::int64_t, double) {
    if (++step == break_at) throw std::runtime_error("killed");
  };
  CHECK_THROWS_WITH(run_training(options, data, *strategy(), &checkpoints, events), "killed");
  return run_training(options, data, *strategy(), &checkpoints, {});
}

void check_same(const TrainingRecord& actual, const TrainingRecord& expected) {
  CHECK(actual.losses == expected.losses);
  CHECK(actual.test_losses == expected.test_losses);
  CHECK(actual.accuracies == expected.accuracies);
  CHECK(actual.predictions.equal(expected.predictions));
  REQUIRE(actual.parameters.size() == expected.parameters.size());
  for (std::size_t epoch = 0; epoch < expected.parameters.size(); ++epoch) {
    for (const auto& [name, tensor] : expected.parameters[epoch])
      CHECK(actual.parameters[epoch].at(name).equal(tensor));
  }
}

TEST_CASE("an interruption leaves no trace: the record and the weights have the same bits") {
  const Dataset data = generated_images(45, 10, 1);
  TrainingOptions options = four_steps();
  const std::vector<std::pair<OptimizerOptions, std::string>> ways = {
      {{"sgd", 0.01, 0.9}, "tutorial"}, {{"adam", 0.001}, "tutorial"}, {{"sgd", 0.01, 0.9}, "resnet"}};
  for (const auto& [optimizer, model] : ways) {
    options.optimizer = optimizer;
    options.model = model;
    const MakeStrategy strategy = [&] { return single_process(options); };
    const TrainingRecord expected = run_training(options, data, *strategy(), nullptr, {});
    for (const std::int64_t break_at : {1, 4, 5, 6, 10}) {
      const TemporaryFolder folder;
      Checkpoints checkpoints(checkpoints_in(folder), 0, 1);
      CAPTURE(break_at);
      check_same(broken_training(options, data, strategy, checkpoints, break_at), expected);
    }
  }
}

TEST_CASE("nor with stale weights, when there are as many checkpoints: each empties the pipeline") {
  const Dataset data = generated_images(45, 10, 1);
  const TrainingOptions options = four_steps();
  const MakeStrategy strategy = [&] {
    return stale_weights(options, {"pipedream"}, {{0, 1}, {1, 1}, {2, 2}, {4, 1}}, whole_learner(options));
  };
  const TemporaryFolder whole_folder;
  Checkpoints whole(checkpoints_in(whole_folder), 0, 1);
  const TrainingRecord expected = run_training(options, data, *strategy(), &whole, {});
  const TemporaryFolder folder;
  Checkpoints checkpoints(checkpoints_in(folder), 0, 1);
  check_same(broken_training(options, data, strategy, checkpoints, 8), expected);
}

}  // namespace
}  // namespace lab::optc
