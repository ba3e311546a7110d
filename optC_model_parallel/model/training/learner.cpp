#include "optC_model_parallel/model/training/learner.h"

#include <utility>

namespace lab::optc {

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
