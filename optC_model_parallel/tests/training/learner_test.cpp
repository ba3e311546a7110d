#include "optC_model_parallel/model/learner.h"

#include <cmath>

#include "common/api/errors.h"
#include "common/tensor/seeded.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// Updates by hand, and a state that can be saved.
namespace lab::optc {
namespace {

using lab::testing::get_message;

OptimizerOptions sgd(double learning_rate, double momentum) {
  return {"sgd", learning_rate, momentum};
}

/// A layer with these tensors, which are named "w0", "w1" and so on.
Learner make_learner(const Tensors& values, const OptimizerOptions& options) {
  LayerSpec layer;
  for (std::size_t i = 0; i < values.size(); ++i)
    layer.parameters.push_back({"w" + std::to_string(i), values[i].sizes().vec()});
  std::size_t next = 0;
  const ModelSpec model{"small", {layer}};
  return {model, make_parameters(model, [&](const ParameterSpec&) { return values[next++].clone(); }), options};
}

Learner make_learner(double value, const OptimizerOptions& options) {
  return make_learner({at::full({1}, value, at::kDouble)}, options);
}

/// One update by these gradients, of the first tensors.
void step(Learner& learner, const Tensors& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i)
    learner.parameters().layers[0][i].mutable_grad() = gradients[i].clone();
  learner.step();
}

double step(Learner& learner, double gradient) {
  step(learner, {at::full({1}, gradient, at::kDouble)});
  return learner.tensors().at("w0").item<double>();
}

TEST_CASE("SGD by hand: the velocity is the gradient and 0.5 of the velocity before") {
  Learner learner = make_learner(10, sgd(0.25, 0.5));
  CHECK(step(learner, 4) == 9);  // velocity 4
  CHECK_FALSE(learner.parameters().layers[0][0].grad().defined());
  CHECK(step(learner, 2) == 8);   // velocity 0.5 * 4 + 2 = 4
  CHECK(step(learner, -6) == 9);  // velocity 0.5 * 4 - 6 = -4
}

TEST_CASE("Adam by hand: two steps") {
  Learner learner = make_learner(1, {"adam", 0.1});
  // Both means, with bias correction, are those of one gradient: the step is 0.1 * 3 / |3|.
  CHECK(step(learner, 3) == doctest::Approx(0.9).epsilon(1e-8));
  const double mean = (0.9 * 0.1 * 3 - 0.1) / (1 - 0.81);
  const double square = (0.999 * 0.001 * 9 + 0.001) / (1 - 0.999 * 0.999);
  CHECK(step(learner, -1) == doctest::Approx(0.9 - 0.1 * mean / std::sqrt(square)).epsilon(1e-7));
}

TEST_CASE("a tensor without a gradient stays") {
  for (const char* kind : {"sgd", "adam"}) {
    Learner learner = make_learner({at::ones({1}), at::ones({1})}, {kind, 0.1, 0.9});
    step(learner, {at::ones({1})});
    CHECK(learner.tensors().at("w0").item<double>() < 1);
    CHECK(learner.tensors().at("w1").item<double>() == 1);
  }
}

/// The weights after some steps with gradients that depend on the step; after `break_at` of them another learner
/// continues from the state.
TensorMap trained(const OptimizerOptions& options, std::uint64_t num_steps, std::uint64_t break_at) {
  const Tensors first = {seeded_randn({3, 4}, 1), seeded_randn({5}, 2)},
                other = {seeded_randn({3, 4}, 3), at::ones({5})};
  Learner begun = make_learner(first, options), resumed = make_learner(other, options);
  for (std::uint64_t i = 0; i < num_steps; ++i) {
    if (i == break_at) resumed.load_state(begun.state());
    step(i < break_at ? begun : resumed, {seeded_randn({3, 4}, 100 + i), seeded_randn({5}, 200 + i)});
  }
  return (num_steps <= break_at ? begun : resumed).tensors();
}

TEST_CASE("a saved and restored state gives the same bits as no interruption") {
  for (const OptimizerOptions& options : {sgd(0.1, 0.9), sgd(0.1, 0), OptimizerOptions{"adam", 0.01}}) {
    const TensorMap expected = trained(options, 6, 6);
    for (const std::uint64_t break_at : {0, 1, 3, 5}) {
      CAPTURE(break_at);
      for (const auto& [name, tensor] : trained(options, 6, break_at)) CHECK(tensor.equal(expected.at(name)));
    }
  }
}

TEST_CASE("a state is a copy, and restoring copies, too: also back to the beginning") {
  Learner learner = make_learner(10, sgd(0.25, 0.5));
  const TensorMap before = learner.state();
  const double once = step(learner, 4);
  const TensorMap state = learner.state();
  const double twice = step(learner, 4);
  learner.load_state(state);
  CHECK(learner.tensors().at("w0").item<double>() == once);
  CHECK(step(learner, 4) == twice);
  learner.load_state(before);
  CHECK(step(learner, 4) == once);
}

TEST_CASE("a state of other tensors is refused") {
  Learner learner = make_learner(10, sgd(0.25, 0.5));
  TensorMap state = learner.state();
  state["w0"] = at::ones({2}, at::kDouble);
  CHECK(get_message([&] { learner.load_state(state); }) ==
        "model 'small': expected 'w0' to be float64 [1], got float64 [2]");
  state.erase("optimizer");
  CHECK(get_message([&] { learner.load_state(state); }) ==
        "expected the state of a training, got one without 'optimizer'");
}

TEST_CASE("invalid options are refused") {
  const auto refusal = [](const OptimizerOptions& options) { return get_message([&] { make_learner(1, options); }); };
  CHECK(refusal({"adamw"}) == "optimizer 'adamw': expected sgd or adam");
  CHECK(refusal(sgd(-1, 0)) == "optimizer: expected a learning rate and a momentum of 0 or more, got -1 and 0");
  CHECK(refusal(sgd(1, NAN)) == "optimizer: expected a learning rate and a momentum of 0 or more, got 1 and nan");
}

}  // namespace
}  // namespace lab::optc
