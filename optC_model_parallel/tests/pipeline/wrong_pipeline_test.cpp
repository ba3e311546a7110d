#include <algorithm>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_part_trials.h"
#include "optC_model_parallel/micro_batches.h"
#include "optC_model_parallel/split_layers.h"

// Each mistake with stages' layers, micro-batches and their losses, as a wrong solution, and the case that catches it.
namespace lab::optc {
namespace {

/// On one rank, as only rank 0 has these cases.
std::string parts_verdict(const std::string& case_name, const TaskCall& call) {
  return testing::verdict(cases_of(pipeline_sections()), case_name, call, 1);
}

std::string verdict_on_split(const SplitFunction& split, const std::string& case_name = "SplitLayers") {
  return parts_verdict(case_name, [&](Communicator&, const CaseInputs& inputs) { return split_trial(inputs, split); });
}

std::string verdict_on_cut(const CutFunction& cut) {
  return parts_verdict("MicroBatches", [&](Communicator&, const CaseInputs& inputs) { return cut_trial(inputs, cut); });
}

std::string verdict_on_loss(const LossFunction& loss) {
  return parts_verdict("MicroBatchLoss",
                       [&](Communicator&, const CaseInputs& inputs) { return loss_trial(inputs, loss); });
}

TEST_CASE("the reference passes by the same road") {
  CHECK(verdict_on_split(split_layers) == "passed");
  CHECK(verdict_on_cut(micro_batches) == "passed");
  CHECK(verdict_on_loss(micro_batch_loss) == "passed");
}

TEST_CASE("layers by number, not by cost: valid stages, but not balanced") {
  const SplitFunction by_number = [](const std::vector<double>& costs, int num_stages) {
    std::vector<Slice> stages;
    for (int stage = 0; stage < num_stages; ++stage)
      stages.push_back(uneven_slice(static_cast<std::int64_t>(costs.size()), num_stages, stage));
    return stages;
  };
  CHECK(verdict_on_split(by_number) == "mismatch");
  CHECK(verdict_on_split(by_number, "SplitLayersConsecutive") == "passed");
}

TEST_CASE("wrong: stages that leave layers out, take some twice, or are empty") {
  const auto changed = [](const std::function<void(std::vector<Slice>&)>& change) {
    return [change](const std::vector<double>& costs, int num_stages) {
      std::vector<Slice> stages = split_layers(costs, num_stages);
      change(stages);
      return stages;
    };
  };
  CHECK(verdict_on_split(split_layers, "SplitLayersConsecutive") == "passed");
  for (const SplitFunction& wrong :
       {SplitFunction(changed([](auto& stages) { --stages.back().size; })),
        SplitFunction(changed([](auto& stages) { ++stages.front().size; })), SplitFunction(changed([](auto& stages) {
          stages.push_back({stages.back().end(), 0});
        })),
        SplitFunction(changed([](auto& stages) { std::reverse(stages.begin(), stages.end()); }))})
    CHECK(verdict_on_split(wrong, "SplitLayersConsecutive") == "mismatch");
}

/// Stage after stage until it has its share of the whole cost; with `leaving_some`, early enough that every later stage
/// has a layer.
std::vector<Slice> filled(const std::vector<double>& costs, int num_stages, bool leaving_some) {
  double all = 0;
  for (const double cost : costs) all += cost;
  const auto num_layers = static_cast<std::int64_t>(costs.size());
  std::vector<Slice> stages;
  std::int64_t layer = 0;
  for (int stage = 0; stage < num_stages; ++stage) {
    const std::int64_t begin = layer, most = num_layers - (leaving_some ? num_stages - 1 - stage : 0);
    double cost = 0;
    while (layer < most && (stage == num_stages - 1 || layer == begin || cost < all / num_stages))
      cost += costs[static_cast<std::size_t>(layer++)];
    stages.push_back({begin, layer - begin});
  }
  return stages;
}

TEST_CASE("wrong: stages filled one after the other, with a last one that gets what is left, or nothing") {
  CHECK(verdict_on_split([](const auto& costs, int stages) { return filled(costs, stages, true); }) == "mismatch");
  CHECK(verdict_on_split([](const auto& costs, int stages) { return filled(costs, stages, false); }) == "mismatch");
}

TEST_CASE("wrong: micro-batches that lose the rest, give it all to the last one, or leave empty ones out") {
  const auto of_size = [](std::int64_t size, std::int64_t count) {
    std::vector<Slice> slices;
    for (std::int64_t i = 0; i < count; ++i) slices.push_back({i * size, size});
    return slices;
  };
  CHECK(verdict_on_cut([&](std::int64_t images, std::int64_t m) { return of_size(images / m, m); }) == "mismatch");
  CHECK(verdict_on_cut([&](std::int64_t images, std::int64_t m) {
          std::vector<Slice> slices = of_size(images / m, m);
          slices.back().size += images % m;
          return slices;
        }) == "mismatch");
  CHECK(verdict_on_cut([&](std::int64_t images, std::int64_t m) {
          return micro_batches(images, std::max<std::int64_t>(1, std::min(images, m)));
        }) == "mismatch");
}

TEST_CASE("wrong: the mean of each micro-batch, and the mean of these means") {
  CHECK(verdict_on_loss([](const at::Tensor& logits, const at::Tensor& labels, std::int64_t) {
          return at::cross_entropy_loss(logits, labels);
        }) == "mismatch");
  CHECK(verdict_on_loss([](const at::Tensor& logits, const at::Tensor& labels, std::int64_t) {
          return at::cross_entropy_loss(logits, labels).nan_to_num() / 6;  // there are 6 micro-batches
        }) == "mismatch");
  CHECK(verdict_on_loss([](const at::Tensor& logits, const at::Tensor& labels, std::int64_t) {
          return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
        }) == "mismatch");
}

TEST_CASE("wrong: right but for an empty micro-batch, whose mean is 0 / 0") {
  CHECK(verdict_on_loss([](const at::Tensor& logits, const at::Tensor& labels, std::int64_t batch_size) {
          return at::cross_entropy_loss(logits, labels) * labels.size(0) / batch_size;
        }) == "mismatch");
}

}  // namespace
}  // namespace lab::optc
