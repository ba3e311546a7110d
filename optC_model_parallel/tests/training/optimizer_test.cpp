#include "optC_model_parallel/model/optimizer.h"

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

at::Tensor leaf(double value) {
  return at::full({1}, value, at::kDouble).requires_grad_();
}

void set_gradient(const at::Tensor& tensor, double value) {
  tensor.mutable_grad() = at::full({1}, value, at::kDouble);
}

double read_value(const at::Tensor& tensor) {
  return tensor.item<double>();
}

TEST_CASE("SGD by hand: the velocity is the gradient and 0.5 of the velocity before") {
  const at::Tensor w = leaf(10);
  Optimizer optimizer({"w"}, {w}, sgd(0.25, 0.5));
  CHECK(optimizer.state().empty());
  set_gradient(w, 4);  // velocity 4
  optimizer.step();
  CHECK(read_value(w) == 9);
  CHECK_FALSE(w.grad().defined());
  set_gradient(w, 2);  // velocity 0.5 * 4 + 2 = 4
  optimizer.step();
  CHECK(read_value(w) == 8);
  set_gradient(w, -6);  // velocity 0.5 * 4 - 6 = -4
  optimizer.step();
  CHECK(read_value(w) == 9);
  CHECK(read_value(optimizer.state().at("momentum.w")) == -4);
}

TEST_CASE("without momentum there is nothing to keep") {
  const at::Tensor w = leaf(10);
  Optimizer optimizer({"w"}, {w}, sgd(0.25, 0));
  set_gradient(w, 4);
  optimizer.step();
  set_gradient(w, 4);
  optimizer.step();
  CHECK(read_value(w) == 8);
  CHECK(optimizer.state().empty());
}

TEST_CASE("Adam by hand: two steps") {
  const at::Tensor w = leaf(1);
  Optimizer optimizer({"w"}, {w}, {"adam", 0.1});
  set_gradient(w, 3);
  optimizer.step();
  // Both means, with bias correction, are those of one gradient: the step is 0.1 * 3 / |3|.
  CHECK(read_value(w) == doctest::Approx(0.9).epsilon(1e-8));
  set_gradient(w, -1);
  optimizer.step();
  const double mean = (0.9 * 0.1 * 3 - 0.1) / (1 - 0.81);
  const double square = (0.999 * 0.001 * 9 + 0.001) / (1 - 0.999 * 0.999);
  CHECK(read_value(w) == doctest::Approx(0.9 - 0.1 * mean / std::sqrt(square)).epsilon(1e-7));
  const TensorMap state = optimizer.state();
  CHECK(state.at("step.w").equal(at::scalar_tensor(2, at::kLong)));
  CHECK(read_value(state.at("exp_avg.w")) == doctest::Approx(0.17));
  CHECK(read_value(state.at("exp_avg_sq.w")) == doctest::Approx(0.009991));
}

TEST_CASE("a tensor without a gradient stays, and has no state") {
  for (const char* kind : {"sgd", "adam"}) {
    const at::Tensor moved = leaf(1), kept = leaf(1);
    Optimizer optimizer({"moved", "kept"}, {moved, kept}, {kind, 0.1, 0.9});
    set_gradient(moved, 1);
    optimizer.step();
    CHECK(read_value(kept) == 1);
    CHECK(read_value(moved) < 1);
    for (const auto& named : optimizer.state()) CHECK(named.first.find("kept") == std::string::npos);
  }
}

/// The weights after some steps with gradients that depend on the step; after `break_at` of them another optimizer
/// continues on a copy of the tensors.
std::vector<at::Tensor> trained(const OptimizerOptions& options, int num_steps, int break_at) {
  const std::vector<std::string> names = {"a", "b"};
  std::vector<at::Tensor> tensors = {seeded_randn({3, 4}, 1).requires_grad_(), seeded_randn({5}, 2).requires_grad_()};
  Optimizer optimizer(names, tensors, options);
  for (int step = 0; step < num_steps; ++step) {
    if (step == break_at) {
      const TensorMap state = optimizer.state();
      for (at::Tensor& tensor : tensors) tensor = tensor.detach().clone().requires_grad_();
      optimizer = Optimizer(names, tensors, options);
      optimizer.load_state(state);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
      tensors[i].mutable_grad() = seeded_randn(tensors[i].sizes(), 100 + static_cast<std::uint64_t>(2 * step) + i);
    optimizer.step();
  }
  return tensors;
}

TEST_CASE("a saved and restored state gives the same bits as no interruption") {
  for (const OptimizerOptions& options : {sgd(0.1, 0.9), sgd(0.1, 0), OptimizerOptions{"adam", 0.01}}) {
    const std::vector<at::Tensor> expected = trained(options, 6, -1);
    for (const int break_at : {0, 1, 3, 5}) {
      const std::vector<at::Tensor> actual = trained(options, 6, break_at);
      for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i].equal(expected[i]));
    }
  }
}

TEST_CASE("a state is a copy, and restoring copies, too") {
  const at::Tensor w = leaf(10);
  Optimizer optimizer({"w"}, {w}, sgd(0.25, 0.5));
  set_gradient(w, 4);
  optimizer.step();
  const TensorMap state = optimizer.state();
  optimizer.load_state(state);
  set_gradient(w, 4);
  optimizer.step();
  CHECK(read_value(state.at("momentum.w")) == 4);
  CHECK(read_value(optimizer.state().at("momentum.w")) == 6);
  optimizer.load_state({});  // as at the beginning
  CHECK(optimizer.state().empty());
}

TEST_CASE("a state of another optimizer is refused, and changes nothing") {
  const at::Tensor w = leaf(10);
  Optimizer by_sgd({"w"}, {w}, sgd(0.25, 0.5));
  set_gradient(w, 4);
  by_sgd.step();
  const at::Tensor one = at::ones({1}, at::kDouble);
  const auto refusal = [](Optimizer& optimizer, const TensorMap& state) {
    return get_message([&] { optimizer.load_state(state); });
  };
  CHECK(refusal(by_sgd, {{"momentum.v", one}}) == "optimizer's state: 'momentum.v' does not belong to it");
  CHECK(refusal(by_sgd, {{"exp_avg.w", one}}) == "optimizer's state: 'exp_avg.w' does not belong to it");
  CHECK(refusal(by_sgd, {{"momentum.w", at::ones({2}, at::kDouble)}}) ==
        "optimizer's state: expected 'momentum.w' to be float64 [1], got float64 [2]");
  CHECK(refusal(by_sgd, {{"momentum.w", at::ones({1})}}) ==
        "optimizer's state: expected 'momentum.w' to be float64 [1], got float32 [1]");
  CHECK(read_value(by_sgd.state().at("momentum.w")) == 4);
  Optimizer by_adam({"w"}, {w}, {"adam"});
  CHECK(refusal(by_adam, {{"exp_avg.w", one}, {"exp_avg_sq.w", one}}) ==
        "optimizer's state: expected all or none of step, exp_avg, and exp_avg_sq of 'w'");
}

TEST_CASE("invalid options are refused") {
  const auto refusal = [](const OptimizerOptions& options) {
    return get_message([&] { Optimizer({"w"}, {leaf(1)}, options); });
  };
  CHECK(refusal({"adamw"}) == "optimizer 'adamw': expected sgd or adam");
  CHECK(refusal(sgd(-1, 0)) == "optimizer: expected a learning rate and a momentum of 0 or more, got -1 and 0");
  CHECK(refusal(sgd(1, NAN)) == "optimizer: expected a learning rate and a momentum of 0 or more, got 1 and nan");
}

}  // namespace
}  // namespace lab::optc
