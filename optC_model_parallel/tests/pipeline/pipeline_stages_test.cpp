#include <algorithm>

#include "common/api/peak_memory.h"
#include "common/pipeline/generators.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/stages.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {
namespace {

TEST_CASE("MicroBatchData: micro-batches are numbered through all batches, each with its own images") {
  const Images images = random_images(9, 4);
  const at::Tensor first = at::tensor(std::vector<std::int64_t>{8, 1, 5}, at::kLong);
  const at::Tensor second = at::tensor(std::vector<std::int64_t>{2}, at::kLong);
  const MicroBatchData data(images, {first, second}, 2, at::kFloat);
  CHECK(data.num_micro_batches() == 4);
  CHECK(data.size(0) == 2);
  CHECK(data.size(1) == 1);
  CHECK(data.size(3) == 0);
  CHECK(data.batch_size(1) == 3);
  CHECK(data.batch_size(3) == 1);
  CHECK(data.pixels(1).equal(normalized(images, first.narrow(0, 2, 1), at::kFloat)));
  CHECK(data.labels(0).equal(take_labels(images, first.narrow(0, 0, 2))));
  CHECK(data.labels(2).equal(take_labels(images, second)));
  CHECK(data.pixels(3).size(0) == 0);
}

/// What one rank's stages hold after all forward passes, and after all backward passes.
std::vector<std::int64_t> bytes_held(bool recompute) {
  constexpr int kMicroBatches = 6;
  std::vector<std::int64_t> held;
  const launch::WorldOutcome outcome = launch::run_ranks(threads(1), [&](Communicator& comm) {
    const StagePlan plan = chain_plan(1, 1);
    const Images images = random_images(kMicroBatches, 1);
    const MicroBatchData batch(images, {at::arange(kMicroBatches, at::kLong)}, kMicroBatches, at::kDouble);
    const Parameters weights = first_parameters(plan.model, 1, at::kDouble);
    PipelineStages stages(plan, weights, batch, recompute, comm);
    const PeakMemory memory(at::kCPU);
    for (int i = 0; i < kMicroBatches; ++i) stages.forward(0, i, {});
    held.push_back(memory.held_bytes());
    for (int i = 0; i < kMicroBatches; ++i) stages.backward(0, i, {});
    for (const at::Tensor& weight : learning(plan.model, weights)) weight.mutable_grad().reset();
    held.push_back(memory.held_bytes());
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  return held;
}

TEST_CASE("with recomputation the first stage does not even hold its images; and nothing is held when all is done") {
  CHECK(bytes_held(true) == std::vector<std::int64_t>{0, 0});
  const std::vector<std::int64_t> without = bytes_held(false);
  CHECK(without[0] > 0);
  CHECK(without[1] == 0);
}

/// Stashed stages, and the largest number of versions that they had during a forward pass.
class CountedVersions : public pipeline::StageWork {
 public:
  explicit CountedVersions(StashedStage& stage) : stage_(stage) {}

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override {
    at::Tensor output = stage_.forward(chunk, micro_batch, input);
    most = std::max(most, static_cast<std::int64_t>(stage_.num_versions()));
    return output;
  }
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& grad) override {
    return stage_.backward(chunk, micro_batch, grad);
  }

  std::int64_t most = 0;

 private:
  StashedStage& stage_;
};

/// The largest number of versions that each of 4 stages keeps.
std::vector<std::int64_t> find_most_versions(const PipelineOptions& pipeline) {
  constexpr int kStages = 4, kBatches = 12;
  std::vector<std::int64_t> most(kStages, -1);
  const launch::WorldOutcome outcome = launch::run_ranks(threads(kStages), [&](Communicator& comm) {
    const StagePlan plan = chain_plan(kStages, 1);
    const ModelSpec own = plan.layers(comm.rank());
    Learner learner(own, first_parameters(own, 1, at::kDouble), {});
    const Images images = random_images(kBatches, 1);
    const MicroBatchData data(images, at::arange(kBatches, at::kLong).split(1), pipeline.num_micro_batches,
                              at::kDouble);
    const OnLoss no_callback = [](double) {};
    StashedStage stage(plan, learner, version_rule(pipeline, comm.rank(), kStages), data, no_callback, comm);
    CountedVersions counted(stage);
    const auto count = static_cast<int>(data.num_micro_batches());
    run_schedule(pipeline::make_schedule({"1f1b", kStages, count}), comm.point_to_point(), counted,
                 stage_buffers(plan, data));
    most[static_cast<std::size_t>(comm.rank())] = counted.most;
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  return most;
}

TEST_CASE(
    "stages keep p - s versions with PipeDream, p with vertical sync, two with PipeDream-2BW, however many batches") {
  using Counts = std::vector<std::int64_t>;
  CHECK(find_most_versions({"pipedream", 1}) == Counts{4, 3, 2, 1});
  CHECK(find_most_versions({"pipedream-sync", 1}) == Counts{4, 4, 4, 4});
  CHECK(find_most_versions({"pipedream-2bw", 4}) == Counts{2, 2, 2, 2});
  CHECK(find_most_versions({"pipedream-2bw", 7}) == Counts{2, 2, 2, 2});
}

TEST_CASE("stages go backward in one piece") {
  class Whole : public pipeline::StageWork {
    at::Tensor forward(int, int, const at::Tensor& input) override { return input; }
    at::Tensor backward(int, int, const at::Tensor& grad) override { return grad; }
  };
  Whole work;
  CHECK(testing::get_message([&] { work.backward_input(0, 0, {}); }) ==
        "expected a schedule with whole backward passes, got one that takes them apart");
  CHECK(testing::get_message([&] { work.backward_weight(0, 0); }) ==
        "expected a schedule with whole backward passes, got one that takes them apart");
}

}  // namespace
}  // namespace lab::optc
