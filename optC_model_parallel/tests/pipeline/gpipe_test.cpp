#include "optC_model_parallel/gpipe.h"

#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/model/parallel/stages.h"

namespace lab::optc {
namespace {

/// Adds one forward, and another one backward.
class AddOne : public pipeline::StageWork {
 public:
  at::Tensor forward(int, int, const at::Tensor& input) override { return input.defined() ? input + 1 : at::ones({2}); }
  at::Tensor backward(int, int, const at::Tensor& grad) override { return grad.defined() ? grad + 1 : at::ones({2}); }
};

at::Tensor two_floats(int, int) {
  return at::empty({2});
}

TEST_CASE("gpipe: tags are micro-batches, and a neighbour that takes them one by one by send and recv is served") {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(3), [](Communicator& comm) {
    constexpr int kMicroBatches = 4;
    PointToPoint& p2p = comm.point_to_point();
    if (comm.rank() != 1) {
      AddOne work;
      gpipe(work, p2p, kMicroBatches, two_floats);
      return TensorMap{};
    }
    TensorMap seen;  // what passes through between the first and the last
    for (int i = 0; i < kMicroBatches; ++i) {
      const at::Tensor x = at::empty({2});
      p2p.recv(x, 0, i);
      p2p.send(x * 10, 2, i);
      seen["forward"] = x;
    }
    for (int i = 0; i < kMicroBatches; ++i) {
      const at::Tensor grad = at::empty({2});
      p2p.recv(grad, 2, i);
      p2p.send(grad, 0, i);
      seen["backward"] = grad;
    }
    return seen;
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.ranks[1].tensors.at("forward").equal(at::ones({2})));
  CHECK(outcome.ranks[1].tensors.at("backward").equal(at::ones({2})));
}

TEST_CASE("gpipe: a failing stage ends all, and is the one that is named") {
  class Fails : public AddOne {
   public:
    at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override {
      if (micro_batch == 2) throw UsageError("the loss is nan");
      return AddOne::forward(chunk, micro_batch, input);
    }
  };
  const launch::WorldOutcome outcome = launch::run_ranks(threads(4), [](Communicator& comm) {
    AddOne good;
    Fails bad;
    pipeline::StageWork& work = comm.rank() == 2 ? static_cast<pipeline::StageWork&>(bad) : good;
    gpipe(work, comm.point_to_point(), 5, two_floats);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message == "rank 2: the loss is nan");
}

TEST_CASE("gpipe: traced, each stage shows every micro-batch's forward and backward pass") {
  launch::WorldSpec spec = threads(2);
  spec.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [](Communicator& comm) {
    const StagePlan plan = chain_plan(comm.size(), 1);
    const Images images = random_images(3, 1);
    const MicroBatchData batch(images, {at::arange(3, at::kLong)}, 2, at::kDouble);
    const Parameters weights = first_parameters(layers_of_rank(plan, comm.rank()), 1, at::kDouble);
    PipelineStages stages(plan, weights, batch, false, comm);
    gpipe(stages, comm.point_to_point(), 2, stage_buffers(plan, batch));
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    std::vector<std::string> computations;
    for (const comm::TraceEvent& event : rank.trace) {
      if (event.kind == comm::TraceKind::kComputation) computations.push_back(event.operation);
    }
    CHECK(computations == std::vector<std::string>{"F0", "F1", "B0", "B1"});
  }
}

}  // namespace
}  // namespace lab::optc
