#include "optC_model_parallel/model/optimizer.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <type_traits>
#include <utility>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::optc {
namespace {

using States = std::decay_t<decltype(std::declval<torch::optim::Optimizer&>().state())>;

/// LibTorch's key for a tensor's state: its address, in older versions as text.
template <class Key = States::key_type>
Key make_key(const at::Tensor& tensor) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << tensor.unsafeGetTensorImpl();
    return text.str();
  } else {
    return tensor.unsafeGetTensorImpl();
  }
}

std::unique_ptr<torch::optim::Optimizer> made(const std::vector<at::Tensor>& tensors, const OptimizerOptions& options) {
  for (const double number : {options.learning_rate, options.momentum}) {
    if (!std::isfinite(number) || number < 0)
      throw UsageError(fmt::format("optimizer: expected a learning rate and a momentum of 0 or more, got {} and {}",
                                   options.learning_rate, options.momentum));
  }
  if (options.kind == "sgd")
    return std::make_unique<torch::optim::SGD>(
        tensors, torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum));
  if (options.kind == "adam")
    return std::make_unique<torch::optim::Adam>(tensors, torch::optim::AdamOptions(options.learning_rate));
  throw UsageError(fmt::format("optimizer '{}': expected sgd or adam", options.kind));
}

/// Removes a tensor from the map and returns a copy, where the other one is; undefined if there is none.
at::Tensor taken(TensorMap& rest, const std::string& name, const at::Tensor& like) {
  const auto found = rest.find(name);
  if (found == rest.end()) return {};
  const at::Tensor value = std::move(found->second);
  rest.erase(found);
  if (value.sizes() != like.sizes() || value.scalar_type() != like.scalar_type())
    throw UsageError(
        fmt::format("optimizer's state: expected '{}' to be {}, got {}", name, describe(like), describe(value)));
  return value.clone().to(like.device());
}

}  // namespace

struct Optimizer::State {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  bool is_adam;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

Optimizer::Optimizer(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors,
                     const OptimizerOptions& options)
    : state_(std::make_unique<State>(State{names, tensors, options.kind == "adam", made(tensors, options)})) {}

Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

void Optimizer::step() {
  state_->optimizer->step();
  for (const at::Tensor& tensor : state_->tensors) tensor.mutable_grad() = at::Tensor();
}

TensorMap Optimizer::state() const {
  TensorMap all;
  const States& states = std::as_const(*state_->optimizer).state();
  for (std::size_t i = 0; i < state_->tensors.size(); ++i) {
    const std::string& name = state_->names[i];
    const auto found = states.find(make_key(state_->tensors[i]));
    if (found == states.end()) continue;
    if (state_->is_adam) {
      const auto& adam = static_cast<const torch::optim::AdamParamState&>(*found->second);
      all["exp_avg." + name] = adam.exp_avg().clone().cpu();
      all["exp_avg_sq." + name] = adam.exp_avg_sq().clone().cpu();
      all["step." + name] = at::scalar_tensor(adam.step(), at::kLong);
    } else {
      const auto& sgd = static_cast<const torch::optim::SGDParamState&>(*found->second);
      all["momentum." + name] = sgd.momentum_buffer().clone().cpu();
    }
  }
  return all;
}

void Optimizer::load_state(const TensorMap& state) {
  TensorMap rest = state;
  States states;
  for (std::size_t i = 0; i < state_->tensors.size(); ++i) {
    const std::string& name = state_->names[i];
    const at::Tensor& tensor = state_->tensors[i];
    if (state_->is_adam) {
      const at::Tensor step = taken(rest, "step." + name, at::scalar_tensor(0, at::kLong));
      const at::Tensor exp_avg = taken(rest, "exp_avg." + name, tensor);
      const at::Tensor exp_avg_sq = taken(rest, "exp_avg_sq." + name, tensor);
      if (step.defined() != exp_avg.defined() || step.defined() != exp_avg_sq.defined())
        throw UsageError(
            fmt::format("optimizer's state: expected all or none of step, exp_avg, and exp_avg_sq of '{}'", name));
      if (!step.defined()) continue;
      auto adam = std::make_unique<torch::optim::AdamParamState>();
      adam->step(step.item<std::int64_t>());
      adam->exp_avg(exp_avg);
      adam->exp_avg_sq(exp_avg_sq);
      states[make_key(tensor)] = std::move(adam);
    } else {
      const at::Tensor momentum = taken(rest, "momentum." + name, tensor);
      if (!momentum.defined()) continue;
      auto sgd = std::make_unique<torch::optim::SGDParamState>();
      sgd->momentum_buffer(momentum);
      states[make_key(tensor)] = std::move(sgd);
    }
  }
  if (!rest.empty())
    throw UsageError(fmt::format("optimizer's state: '{}' does not belong to it", rest.begin()->first));
  state_->optimizer->state() = std::move(states);
}

Learner::Learner(ModelSpec model, Parameters first, const OptimizerOptions& options)
    : model_(std::move(model)),
      parameters_(std::move(first)),
      optimizer_(learning_names(model_), learning(model_, parameters_), options) {}

TensorMap Learner::tensors() const {
  TensorMap all = named(model_, parameters_);
  for (auto& [name, tensor] : all)
    tensor = tensor.to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  return all;
}

TensorMap Learner::state() const {
  TensorMap all = tensors();
  all.merge(optimizer_.state());
  return all;
}

void Learner::load_state(const TensorMap& state) {
  TensorMap rest = state;
  for (const auto& parameter : named(model_, parameters_)) rest.erase(parameter.first);
  optimizer_.load_state(rest);
  assign(model_, parameters_, state);
}

}  // namespace lab::optc
