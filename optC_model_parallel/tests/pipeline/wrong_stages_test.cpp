#include <c10/core/GradMode.h>

#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_part_trials.h"

// Each mistake with a stage's live micro-batches, and with recomputation, as a wrong solution, and the case that
// catches it.
namespace lab::optc {
namespace {

using testing::contains;

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
