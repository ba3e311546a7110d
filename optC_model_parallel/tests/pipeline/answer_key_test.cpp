#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>

#include "common/api/shapes.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

// The reference report has the same stages as the program: its table is generated here, and compared.
namespace lab::optc {
namespace {

using lab::testing::contains;

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
