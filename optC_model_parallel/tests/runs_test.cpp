#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "common/launch/one_rank.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/training.h"

// Which rank trains what, how ranks agree on where to resume, and what counts as the same training.
namespace lab::optc {
namespace {

using lab::testing::contains;
using lab::testing::get_message;

TrainingOptions short_training() {
  TrainingOptions training;
  training.num_epochs = 2;
  training.batch_size = 20;
  return training;
}

TEST_CASE("a run's name says what is trained and how") {
  CHECK(run_named("interleaved", {}, {}).training.model == "deep");
  CHECK(run_named("interleaved", {}, {}).pipeline.num_chunks == 2);
  CHECK(run_named("pipedream", {}, {}).is_stale());
  CHECK_FALSE(run_named("1f1b", {}, {}).is_stale());
  for (const std::string& name : run_names()) {
    CAPTURE(name);
    CHECK(run_named(name, {}, {}).name == name);
    CHECK(run_named(name, {}, {}).is_tensor == (run_named(name, {}, {}).training.model == name));
  }
  CHECK(contains(get_message([] { run_named("pipdream", {}, {}); }), "got 'pipdream'"));
}

TEST_CASE("a pipeline of more ranks than its usual model has layers is one of a deeper model") {
  CHECK(usual_model({"gpipe"}, 5) == "tutorial");
  CHECK(usual_model({"gpipe"}, 6) == "deep");
  CHECK(usual_model({"interleaved", 4, 2}, 2) == "deep");
}

TEST_CASE("runs with the same numbers share a reference, and no others do") {
  const auto key = [](const std::string& name) { return run_named(name, {}, {}).reference_key(); };
  CHECK(key("gpipe") == key("1f1b"));
  CHECK(key("gpipe") != key("interleaved"));
  CHECK(key("gpipe") != key("pipedream"));
  CHECK(key("pipedream") != key("pipedream-sync"));
  CHECK(key("pair") != key("pair-norm"));
  TrainingOptions other;
  other.optimizer.learning_rate = 0.02;
  CHECK(run_named("gpipe", other, {}).reference_key() != key("gpipe"));
}

TEST_CASE("training a reference reports after each step and each batch of an evaluation") {
  const Dataset data = generated_images(50, 300, 1);
  launch::install_meters();
  int num_reports = 0;
  train_reference(run_named("gpipe", short_training(), {}), data, 2, [&] { ++num_reports; });
  CHECK(num_reports == 2 * (3 + 2));
}

TEST_CASE("every rank gets every reference, as one process trains it") {
  const Dataset data = generated_images(50, 20, 1);
  const std::vector<TrainingRun> runs = {run_named("gpipe", short_training(), {}),
                                         run_named("pair-norm", short_training(), {}),
                                         run_named("1f1b", short_training(), {})};
  const TrainingRecord alone = run_training(runs[1].training, data, *runs[1].reference_strategy(1), nullptr, {});
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
    const std::vector<TrainingRecord> references = train_references(runs, data, comm);
    const TrainingRecord& second = references[1];
    TensorMap results = {{"first", at::tensor(references[0].losses)},
                         {"third", at::tensor(references[2].losses)},
                         {"losses", at::tensor(second.losses)},
                         {"predictions", second.predictions}};
    for (const auto& [name, tensor] : second.parameters.back()) results["last." + name] = tensor;
    return results;
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    CHECK(rank.tensors.at("first").equal(rank.tensors.at("third")));
    CHECK(rank.tensors.at("losses").equal(at::tensor(alone.losses)));
    CHECK_FALSE(rank.tensors.at("losses").equal(rank.tensors.at("first")));
    CHECK(rank.tensors.at("predictions").equal(alone.predictions));
    for (const auto& [name, tensor] : alone.parameters.back()) {
      CAPTURE(name);
      CHECK(rank.tensors.at("last." + name).equal(tensor));
    }
  }
}

TEST_CASE("where one rank's newest checkpoint is damaged, all go on from the one before") {
  const testing::TemporaryFolder folder;
  const auto checkpoints = [&](Communicator& comm) {
    CheckpointOptions options;
    options.folder = folder.file("c");
    options.every = 20;
    options.resume = true;
    return Checkpoints(options, comm.rank(), comm.size(), &comm.collectives());
  };
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
    Checkpoints before = checkpoints(comm);
    for (const std::int64_t step : {20, 40}) before.write({step, {{"w", at::full({3}, 1.0 * step)}}, {}});
    const std::string newest = folder.file("c/step00000040.rank1.safetensors");
    if (comm.rank() == 1) std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
    comm.collectives().barrier();
    Checkpoints after = checkpoints(comm);
    const std::optional<Checkpoint> found = after.newest();
    return TensorMap{{"step", at::full({1}, found ? found->step : -1)},
                     {"w", found ? found->state.at("w") : at::zeros({3})},
                     {"notes", at::full({1}, static_cast<std::int64_t>(after.notes().size()))}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    CHECK(rank.tensors.at("step").item<std::int64_t>() == 20);
    CHECK(rank.tensors.at("w").eq(20).all().item<bool>());
    // Rank 0 reports where the training resumes, rank 1 what is damaged.
    CHECK(rank.tensors.at("notes").item<std::int64_t>() == (rank.report.rank == 2 ? 0 : 1));
  }
}

TEST_CASE("where one rank's only checkpoint is damaged, all ranks refuse alike, and none says that it starts over") {
  const testing::TemporaryFolder folder;
  const auto checkpoints = [&](Communicator& comm) {
    CheckpointOptions options;
    options.folder = folder.file("c");
    options.every = 20;
    options.resume = true;
    return Checkpoints(options, comm.rank(), comm.size(), &comm.collectives());
  };
  const std::string file = folder.file("c/step00000020.rank2.safetensors");
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [&](Communicator& comm) {
    checkpoints(comm).write({20, {{"w", at::full({3}, 1.0)}}, {}});
    if (comm.rank() == 2) std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    comm.collectives().barrier();
    Checkpoints after = checkpoints(comm);
    const std::string message = get_message([&] { after.newest(); });
    const std::string begin =
        "--resume: no step is left that all ranks have intact: rank 2: checkpoint of step 20: '" + file;
    return TensorMap{
        {"refused", at::full({1}, message.rfind(begin, 0) == 0)},
        {"starts over", at::full({1}, contains(fmt::format("{}", fmt::join(after.notes(), " ")), "starts"))}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    CHECK(rank.tensors.at("refused").item<bool>());
    CHECK_FALSE(rank.tensors.at("starts over").item<bool>());
  }
}

TEST_CASE("parameters are compared as one vector, by its norm") {
  const TensorMap expected = {{"a", at::full({3}, 2.0, at::kDouble)}, {"b", at::full({1}, 2.0, at::kDouble)}};
  const auto with_a = [&](double difference) {
    return TensorMap{{"a", expected.at("a") + difference}, {"b", expected.at("b")}};
  };
  CHECK(compare_parameters(with_a(1e-11), expected, 1e-10).close);
  CHECK_FALSE(compare_parameters(with_a(1e-9), expected, 1e-10).close);
  CHECK_FALSE(compare_parameters(with_a(std::numeric_limits<double>::quiet_NaN()), expected, 1e-10).close);
  CHECK(compare_parameters(with_a(1e-6), expected).relative_norm == doctest::Approx(4.33e-7).epsilon(0.01));
  CHECK(contains(get_message([&] { compare_parameters({{"a", expected.at("a")}}, expected); }), "b"));
}

TEST_CASE("losses are compared step by step, and a missing one is a mismatch") {
  CHECK(compare_losses({2, 1}, {2, 1}, 1e-10).close);
  CHECK_FALSE(compare_losses({2, 1 + 1e-9}, {2, 1}, 1e-10).close);
  CHECK_FALSE(compare_losses({2}, {2, 1}, 1e-10).close);
}

}  // namespace
}  // namespace lab::optc
