#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <limits>
#include <sstream>

#include "common/api/shapes.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/split_layers.h"

namespace lab::optc {
namespace {

using lab::testing::contains;

std::vector<std::int64_t> list_sizes(const std::vector<Slice>& stages) {
  std::vector<std::int64_t> sizes;
  for (const Slice& stage : stages) sizes.push_back(stage.size);
  return sizes;
}

TEST_CASE("split_layers: the most expensive stage is as cheap as can be") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(list_sizes(split_layers({4, 1, 1, 1, 1}, 2)) == Sizes{1, 4});
  CHECK(list_sizes(split_layers({1, 1, 1, 1, 4}, 2)) == Sizes{4, 1});
  CHECK(list_sizes(split_layers({2, 2, 2, 2, 2, 2}, 3)) == Sizes{2, 2, 2});
  CHECK(list_sizes(split_layers({3, 1, 2}, 3)) == Sizes{1, 1, 1});
  CHECK(list_sizes(split_layers({7}, 1)) == Sizes{1});
}

TEST_CASE("split_layers: layers that cost nothing make stages, too") {
  for (const int num_stages : {1, 2, 3, 4, 5}) {
    const std::vector<Slice> stages = split_layers({0, 0, 5, 0, 0}, num_stages);
    CHECK(stages.size() == static_cast<std::size_t>(num_stages));
    for (const std::int64_t size : list_sizes(stages)) CHECK(size >= 1);
  }
}

TEST_CASE("split_layers: as many stages as layers at most, and at least one") {
  CHECK(testing::get_message([] {
          split_layers({1, 2, 3}, 4);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 4; hint: every stage has a layer");
  CHECK(testing::get_message([] {
          split_layers({1, 2, 3}, 0);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 0; hint: every stage has a layer");
}

/// The message about the model in such a pipeline.
std::string said(const std::string& model, const PipelineOptions& pipeline, int num_ranks) {
  TrainingOptions options;
  options.model = model;
  return testing::get_message([&] { check_pipeline(options, pipeline, num_ranks); });
}

const std::string kNothing = "nothing was thrown";

TEST_CASE("check_pipeline: what can be trained is let through") {
  for (const std::string& schedule : schedule_names()) {
    CAPTURE(schedule);
    CHECK(said("tutorial", {schedule, 5, 1}, 5) == kNothing);
    CHECK(said("deep", {schedule, 8, 1}, 8) == kNothing);
    CHECK(said("tutorial", {schedule, 7, 1}, 1) == kNothing);
  }
  CHECK(said("deep", {"interleaved", 8, 2}, 4) == kNothing);
  CHECK(said("tutorial", {"gpipe", 1, 1, true}, 4) == kNothing);
}

TEST_CASE("check_pipeline: names that are not known, or not for pipelines") {
  CHECK(said("pair", {}, 2) == "--model pair: expected one of tutorial, deep for a pipeline");
  CHECK(said("dep", {}, 2) == "--model dep: expected one of tutorial, deep for a pipeline; did you mean 'deep'?");
  CHECK(said("deep", {"1fb", 4, 1}, 2) ==
        "--schedule 1fb: expected one of gpipe, 1f1b, interleaved, pipedream, pipedream-sync, pipedream-2bw for a "
        "pipeline; did you mean '1f1b'?");
}

TEST_CASE("check_pipeline: more stages than layers") {
  CHECK(said("tutorial", {"gpipe", 4, 1}, 6) ==
        "--model tutorial: expected at least one layer for each of the 6 stages (6 ranks with 1 chunks each), got 5 "
        "layers; hint: `pipeline --model deep` has 8 layers");
  CHECK(said("deep", {"interleaved", 5, 2}, 5) ==
        "--model deep: expected at least one layer for each of the 10 stages (5 ranks with 2 chunks each), got 8 "
        "layers; hint: fewer ranks or chunks");
}

TEST_CASE("check_pipeline: chunks, micro-batches and recomputation that a schedule does not take") {
  CHECK(said("deep", {"1f1b", 4, 2}, 2) == "--chunks 2: expected 1 with 1f1b; hint: only interleaved has more");
  CHECK(said("deep", {"interleaved", 4, 0}, 2) == "--chunks 0: expected at least 1");
  CHECK(said("deep", {"gpipe", 0, 1}, 2) == "--micro-batches 0: expected at least 1");
  CHECK(said("deep", {"interleaved", 6, 2}, 4) ==
        "--micro-batches 6: interleaved expects a multiple of 4, the number of ranks; hint: --micro-batches 8");
  CHECK(said("deep", {"pipedream-2bw", 3, 1}, 4) ==
        "--micro-batches 3: pipedream-2bw expects at least 4, the number of ranks: fewer need more than two versions "
        "of the weights; hint: --micro-batches 4");
  CHECK(said("deep", {"pipedream", 3, 1}, 4) == kNothing);
  CHECK(said("deep", {"pipedream", 4, 1, true}, 4) ==
        "--recompute: expected a schedule that does not change weights under way (gpipe, 1f1b, interleaved), got "
        "pipedream");
}

// The reference report has the same stages as the program: its table is generated here, and compared.

constexpr std::int64_t kMicroBatch = 16;
constexpr std::int64_t kBytesPerValue = 8;

std::string with_commas(std::int64_t number) {
  std::string text = fmt::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<std::size_t>(place), ",");
  return text;
}

/// "output [16, 6, 14, 14], 150,528 bytes": a stage's output for a micro-batch, or its gradient.
std::string message(const std::string& what, const StagePlan& plan, int stage) {
  std::vector<std::int64_t> shape = plan.out_shape(stage);
  shape.insert(shape.begin(), kMicroBatch);
  std::int64_t bytes = kBytesPerValue;
  for (const std::int64_t size : shape) bytes *= size;
  return fmt::format("{} {}, {} bytes", what, shape_text(shape), with_commas(bytes));
}

/// The rank's row of the table in section 2 of the report.
std::string row(const StagePlan& plan, int rank) {
  std::vector<std::string> layers, received, sent;
  for (const LayerSpec& layer : plan.layers(rank).layers) layers.push_back(layer.name);
  if (rank > 0) {
    received.push_back(message("output", plan, rank - 1));
    sent.push_back(message("gradient", plan, rank - 1));
  }
  if (rank < plan.num_stages() - 1) {
    received.push_back(message("gradient", plan, rank));
    sent.insert(sent.begin(), message("output", plan, rank));
  }
  return fmt::format("| {} | {} | {} | {} | {} |\n", rank, fmt::join(layers, ", "),
                     with_commas(layers_of_rank(plan, rank).num_parameters()), fmt::join(received, "; "),
                     fmt::join(sent, "; "));
}

TEST_CASE("the reference report's table of stages is that of the program") {
  const char* const source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  const std::string report =
      testing::read_bytes(std::string(source_dir) + "/optC_model_parallel/answers/optC_report.md");
  const StagePlan plan = balanced_plan(model_named("tutorial"), 4, 1);
  for (int rank = 0; rank < 4; ++rank) {
    CAPTURE(row(plan, rank));
    CHECK(contains(report, row(plan, rank)));
  }
}

TEST_CASE("a rank's part of a plan: layers, parameters and work") {
  const StagePlan plan = balanced_plan(model_named("deep"), 2, 2);
  CHECK(layers_of_rank(plan, 0).multiply_adds() + layers_of_rank(plan, 1).multiply_adds() ==
        doctest::Approx(plan.model.multiply_adds()));
  const ModelSpec whole = layers_of_rank(balanced_plan(model_named("tutorial"), 1, 1), 0);
  CHECK(whole.layers.size() == 5);
  CHECK(whole.num_parameters() == 62006);
  CHECK(whole.multiply_adds() == 352800 + 240000 + 48000 + 10080 + 840);
}

}  // namespace
}  // namespace lab::optc
