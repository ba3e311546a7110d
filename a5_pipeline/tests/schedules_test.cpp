#include <fmt/format.h>

#include <cmath>

#include "a5_pipeline/baseline.h"
#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/comparisons.h"
#include "common/api/compare.h"
#include "common/pipeline/generators.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Every schedule, and the handout's loop, gives the baseline's outputs and gradients: bitwise on one stage,
// otherwise within the tolerance of their norms.
namespace lab::a5 {
namespace {

constexpr int kMostMicroBatches = 16;
const char* const kHandoutLoop = "the handout's loop";

/// A way through the pipeline.
struct Way {
  std::string kind;  ///< of the schedule, or kHandoutLoop
  int num_chunks = 1;
  int num_micro_batches = 1;
};

/// Small sizes.
PipelineArguments make_arguments(std::int64_t number_of_layers, int num_micro_batches, at::ScalarType dtype) {
  PipelineArguments arguments;
  arguments.micro_batch_size = 1;
  arguments.global_batch_size = num_micro_batches;
  arguments.sequence_length = 2;
  arguments.hidden_size = 12;
  arguments.intermediate_size = 24;
  arguments.number_of_layers = number_of_layers;
  arguments.dtype = dtype;
  return arguments;
}

PipelineResult compute_baseline(const PipelineArguments& arguments) {
  const Model model(arguments, all_layers(arguments));
  DataLoader data(arguments);
  PipelineResult result;
  result.outputs = baseline_forward_backward(model, data, arguments);
  result.gradients = model.gradients();
  for (const at::Tensor& output : result.outputs) REQUIRE(output.norm().item<double>() > 0);
  for (const auto& [name, gradient] : result.gradients) REQUIRE(gradient.norm().item<double>() > 0);
  return result;
}

/// The greatest difference of two tensors relative to the expected one's norm; 0 only if all elements are equal; NaN if
/// something is missing.
double difference(const PipelineResult& actual, const PipelineResult& expected, bool has_outputs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (actual.outputs.size() != (has_outputs ? expected.outputs.size() : 0)) return nan;
  double worst = 0;
  const auto add = [&](const at::Tensor& one, const at::Tensor& other) {
    const double norm = one.defined() ? compare(one, other).relative_norm : nan;
    worst = std::isnan(worst) || worst > norm ? worst : norm;
  };
  for (std::size_t i = 0; i < actual.outputs.size(); ++i) add(actual.outputs[i], expected.outputs[i]);
  for (const auto& [name, gradient] : actual.gradients) add(gradient, expected.gradients.at(name));
  return worst;
}

PipelineResult run(const Way& way, const PipelineArguments& arguments, Communicator& comm) {
  if (way.kind == kHandoutLoop) return run_handout_pipeline(arguments, comm);
  pipeline::ScheduleOptions options;
  options.kind = way.kind;
  options.num_ranks = comm.size();
  options.num_micro_batches = way.num_micro_batches;
  options.num_chunks = way.num_chunks;
  return run_scheduled_pipeline(arguments, pipeline::make_schedule(options), comm);
}

/// Runs all of them in one world. All ranks together have each weight once.
void check_ways(const std::vector<Way>& ways, int pp, std::int64_t number_of_layers, at::ScalarType dtype) {
  std::vector<PipelineResult> baselines;  // by number of micro-batches, from 1
  for (int m = 1; m <= kMostMicroBatches; ++m)
    baselines.push_back(compute_baseline(make_arguments(number_of_layers, m, dtype)));

  std::vector<std::vector<double>> differences(static_cast<std::size_t>(pp));  // by rank and way
  std::vector<std::vector<std::size_t>> num_gradients(static_cast<std::size_t>(pp));
  const launch::WorldOutcome outcome = launch::run_ranks(threads(pp), [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    for (const Way& way : ways) {
      const PipelineResult result = run(way, make_arguments(number_of_layers, way.num_micro_batches, dtype), comm);
      const PipelineResult& expected = baselines[static_cast<std::size_t>(way.num_micro_batches - 1)];
      differences[rank].push_back(difference(result, expected, comm.rank() == pp - 1));
      num_gradients[rank].push_back(result.gradients.size());
    }
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  const double bound = pp == 1 ? 0 : tolerance_of(make_arguments(number_of_layers, 1, dtype)).relative_norm;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::size_t num_weights = 0;
    for (std::size_t rank = 0; rank < differences.size(); ++rank) {
      INFO(ways[i].kind << " with " << ways[i].num_chunks << " chunks, m = " << ways[i].num_micro_batches
                        << ", pp = " << pp << ", rank " << rank << ", " << c10::toString(dtype));
      CHECK(differences[rank][i] <= bound);
      num_weights += num_gradients[rank][i];
    }
    CHECK(num_weights == static_cast<std::size_t>(2 * number_of_layers));
  }
}

TEST_CASE("every schedule at every number of micro-batches equals the baseline at pp = 1 2 3 4 8") {
  for (const int pp : {1, 2, 3, 4, 8}) {
    std::vector<Way> ways;
    for (const std::string kind : {kHandoutLoop, "afab", "1f1b", "zb-h1", "interleaved"}) {
      const int num_chunks = kind == "interleaved" ? 2 : 1;
      for (int m = 1; m <= kMostMicroBatches; ++m) {
        if (kind != "interleaved" || m % pp == 0) ways.push_back({kind, num_chunks, m});
      }
    }
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) check_ways(ways, pp, 2 * pp + 1, dtype);
  }
}

TEST_CASE("interleaved with three chunks per rank equals the baseline") {
  for (const int pp : {1, 2, 3, 4}) {
    std::vector<Way> ways;
    for (int m = pp; m <= kMostMicroBatches; m += pp) ways.push_back({"interleaved", 3, m});
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) check_ways(ways, pp, 3 * pp + 2, dtype);
  }
}

}  // namespace
}  // namespace lab::a5
