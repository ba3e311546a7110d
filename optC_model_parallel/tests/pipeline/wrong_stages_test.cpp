#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/pipeline_part_trials.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/micro_batches.h"
#include "optC_model_parallel/split_layers.h"

// Each mistake with stages' layers, micro-batches and their losses, with a stage's live micro-batches and with
// recomputation, as a wrong solution, and the case that catches it.
namespace lab::optc {
namespace {

/// On one rank, as only rank 0 has these cases.
std::string parts_verdict(const std::string& case_name, const TaskCall& call) {
  return testing::verdict(all_cases(), case_name, call, 1);
}

std::string verdict_on_split(const SplitFunction& split, const std::string& case_name = "SplitLayers") {
  return parts_verdict(case_name, [&](Communicator&, const CaseInputs& inputs) { return split_trial(inputs, split); });
}

std::string verdict_on_cut(const CutFunction& cut) {
  return parts_verdict("MicroBatches", [&](Communicator&, const CaseInputs& inputs) { return cut_trial(inputs, cut); });
}

std::string verdict_on_loss(const LossFunction& loss, const std::string& case_name = "MicroBatchLoss") {
  return parts_verdict(case_name, [&](Communicator&, const CaseInputs& inputs) { return loss_trial(inputs, loss); });
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
  const Case balanced = named_cases(all_cases(), "SplitLayers", "").at(0);
  const TaskCall call = [&](Communicator&, const CaseInputs& inputs) { return split_trial(inputs, by_number); };
  CHECK(testing::judged(balanced, call, 1)
            .reason.find(
                "element [0] (the cost of the dearest of 2 stages for layers that cost 4, 1, 1, 1, 1): expected 4, "
                "got 6") != std::string::npos);
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

using testing::contains;

TEST_CASE("wrong: a loss in float64 whatever the logits are: only float32 shows it") {
  const LossFunction in_float64 = [](const at::Tensor& logits, const at::Tensor& labels, std::int64_t batch_size) {
    return micro_batch_loss(logits.to(at::kDouble), labels, batch_size);
  };
  CHECK(verdict_on_loss(in_float64) == "passed");
  CHECK(verdict_on_loss(micro_batch_loss, "MicroBatchLossFloat32") == "passed");
  CHECK(testing::contains(verdict_on_loss(in_float64, "MicroBatchLossFloat32"), "float64 [6]"));
}

TEST_CASE("wrong: a loss or an output that is undefined, or no scalar, is named") {
  const auto message = [](const std::string& case_name, const TaskCall& call) {
    for (const Case& test_case : all_cases()) {
      if (test_case.name == case_name) return testing::judged(test_case, call, 1).message();
    }
    return std::string("unknown case");
  };
  const auto on_loss = [&](const LossFunction& loss) {
    return message("MicroBatchLoss", [&](Communicator&, const CaseInputs& inputs) { return loss_trial(inputs, loss); });
  };
  CHECK(testing::contains(on_loss([](const at::Tensor&, const at::Tensor&, std::int64_t) { return at::Tensor(); }),
                          " is undefined, expected float64 ["));
  CHECK(testing::contains(on_loss([](const at::Tensor& logits, const at::Tensor&, std::int64_t) { return logits; }),
                          "a micro-batch's loss is float64 [8, 10], expected a scalar of the logits' dtype"));
  const MakeLive nothing = [](bool) {
    return LiveUnderTest{[](int, const at::Tensor&, const StageFunction&) { return at::Tensor(); },
                         [](int, const at::Tensor&) { return at::Tensor(); }, [] { return std::size_t{0}; }};
  };
  CHECK(testing::contains(
      message("Stage", [&](Communicator&, const CaseInputs& inputs) { return stage_trial(inputs, nothing); }),
      " is undefined, expected float64 ["));
}

/// LiveMicroBatches again, with hooks for mistakes.
struct Stage {
  struct Live {
    at::Tensor input, output;
    StageFunction function;
  };

  explicit Stage(bool recomputes) : recompute(recomputes) {}
  virtual ~Stage() = default;

  virtual at::Tensor forward(int i, const at::Tensor& input, const StageFunction& function) {
    Live& one = live[i];
    one = {input, {}, function};
    if (!recompute) return detached(one.output = function(input.requires_grad_()));
    const c10::NoGradGuard no_graph;
    return function(input);
  }

  virtual at::Tensor backward(int i, const at::Tensor& output_grad) {
    Live one = taken(i);
    if (recompute) one.output = one.function(one.input.requires_grad_());
    one.output.backward(output_grad);
    return one.input.grad();
  }

  virtual at::Tensor detached(const at::Tensor& output) { return output.detach(); }

  virtual Live taken(int i) {
    Live one = live.at(i);
    live.erase(i);
    return one;
  }

  bool recompute;
  std::map<int, Live> live;
};

template <class Wrong>
LiveUnderTest made_stage(bool recompute) {
  const auto stage = std::make_shared<Wrong>(recompute);
  return {[stage](int i, const at::Tensor& input, const StageFunction& f) { return stage->forward(i, input, f); },
          [stage](int i, const at::Tensor& grad) { return stage->backward(i, grad); },
          [stage] { return stage->live.size(); }};
}

/// On one rank, as only rank 0 has the case.
template <class Wrong>
std::string verdict_on_stages(const std::string& case_name) {
  return testing::verdict(
      cases_of(pipeline_sections()), case_name,
      [](Communicator&, const CaseInputs& inputs) { return stage_trial(inputs, made_stage<Wrong>); }, 1);
}

TEST_CASE("the reference passes by the same road") {
  CHECK(verdict_on_stages<Stage>("Stage") == "passed");
  CHECK(verdict_on_stages<Stage>("Recompute") == "passed");
}

TEST_CASE("wrong: the output is handed on with its graph") {
  struct Attached : Stage {
    using Stage::Stage;
    at::Tensor detached(const at::Tensor& output) override { return output; }
  };
  CHECK(verdict_on_stages<Attached>("Stage") == "mismatch");
}

TEST_CASE("wrong: the micro-batch that came last is the one that goes back") {
  struct Newest : Stage {
    using Stage::Stage;
    Live taken(int) override {
      const auto newest = std::prev(live.end());
      Live one = newest->second;
      live.erase(newest);
      return one;
    }
  };
  CHECK(verdict_on_stages<Newest>("Stage") != "passed");
  CHECK(verdict_on_stages<Newest>("Recompute") != "passed");
}

TEST_CASE("wrong: the input's gradient is another micro-batch's") {
  struct OtherGrad : Stage {
    using Stage::Stage;
    at::Tensor backward(int i, const at::Tensor& output_grad) override {
      const at::Tensor grad = Stage::backward(i, output_grad);
      return std::exchange(before, grad).defined() && before.sizes() == grad.sizes() ? before : grad.flip(0);
    }
    at::Tensor before;
  };
  CHECK(verdict_on_stages<OtherGrad>("Stage") == "mismatch");
}

TEST_CASE("wrong: the input is not a leaf that requires a gradient") {
  struct NoLeaf : Stage {
    using Stage::Stage;
    at::Tensor forward(int i, const at::Tensor& input, const StageFunction& function) override {
      live[i] = {input, function(input), function};
      return live[i].output.detach();
    }
  };
  CHECK(verdict_on_stages<NoLeaf>("Stage") == "mismatch");
}

TEST_CASE("wrong: ones in the place of the output's gradient") {
  struct Ones : Stage {
    using Stage::Stage;
    at::Tensor backward(int i, const at::Tensor& output_grad) override {
      return Stage::backward(i, output_grad.defined() ? at::ones_like(output_grad) : output_grad);
    }
  };
  CHECK(verdict_on_stages<Ones>("Stage") == "mismatch");
}

TEST_CASE("wrong: what went back is not forgotten") {
  struct Keeps : Stage {
    using Stage::Stage;
    Live taken(int i) override { return live.at(i); }
  };
  CHECK(verdict_on_stages<Keeps>("Stage") == "mismatch");
  CHECK(verdict_on_stages<Keeps>("Recompute") == "mismatch");
}

TEST_CASE("wrong: a micro-batch goes back twice") {
  struct Twice : Stage {
    using Stage::Stage;
    at::Tensor backward(int i, const at::Tensor& output_grad) override {
      Live one = taken(i);
      one.output.backward(output_grad, /*retain_graph=*/true);
      one.output.backward(output_grad);
      return one.input.grad();
    }
  };
  CHECK(verdict_on_stages<Twice>("Stage") == "mismatch");
}

TEST_CASE("wrong: recomputation that keeps all activations") {
  struct Full : Stage {
    explicit Full(bool) : Stage(false) {}
  };
  CHECK(verdict_on_stages<Full>("Recompute") == "mismatch");
}

TEST_CASE("wrong: recomputation as well as all activations: only the memory tells") {
  struct Both : Stage {
    using Stage::Stage;
    at::Tensor forward(int i, const at::Tensor& input, const StageFunction& function) override {
      live[i] = {input, function(input.requires_grad_()), function};
      return live[i].output.detach();
    }
  };
  CHECK(verdict_on_stages<Both>("Recompute") == "mismatch");
}

TEST_CASE("wrong: recomputation without a graph, or with one that ends at the input") {
  struct NoGraph : Stage {
    using Stage::Stage;
    at::Tensor backward(int i, const at::Tensor& output_grad) override {
      Live one = taken(i);
      const c10::NoGradGuard no_graph;
      one.output = one.function(one.input);
      one.output.backward(output_grad);
      return one.input.grad();
    }
  };
  CHECK(contains(verdict_on_stages<NoGraph>("Recompute"), "does not require grad"));

  struct OnlyInput : Stage {
    using Stage::Stage;
    at::Tensor backward(int i, const at::Tensor& output_grad) override {
      Live one = taken(i);
      const at::Tensor input = one.input.detach();  // the weights get theirs, the input does not
      one.function(input).backward(output_grad);
      return one.input.grad();
    }
  };
  CHECK(verdict_on_stages<OnlyInput>("Recompute") == "mismatch");
}

}  // namespace
}  // namespace lab::optc
