#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model.h"

namespace lab::optc {

struct OptimizerOptions {
  std::string kind = "sgd";  ///< or "adam"
  double learning_rate = 0.01;
  double momentum = 0.9;  ///< sgd only
};

/// LibTorch's SGD or Adam for named tensors, with a state that can be saved and restored, bit for bit.
class Optimizer {
 public:
  /// The tensors are leaves that require a gradient; step() changes them in place.
  /// Errors    UsageError: an unknown kind; a learning rate or momentum that is negative or not finite
  Optimizer(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors,
            const OptimizerOptions& options);
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  /// One update with the tensors' gradients, which are cleared (undefined). A tensor without one is unchanged.
  void step();

  /// "momentum.conv1.weight"; "exp_avg.conv1.weight", "exp_avg_sq.conv1.weight", "step.conv1.weight" (int64). Nothing
  /// for tensors that were never updated.
  /// Aliasing  copies
  TensorMap state() const;

  /// Errors    UsageError: an unknown name, a different shape or dtype
  void load_state(const TensorMap& state);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Layers, whole ones or shards, with the optimizer that makes them learn: what every strategy trains and keeps.
class Learner {
 public:
  Learner(ModelSpec model, Parameters first, const OptimizerOptions& options);

  const ModelSpec& model() const { return model_; }

  /// The current tensors: leaves that step() and load_state() change in place.
  const Parameters& parameters() const { return parameters_; }

  /// One update with the parameters' gradients, which are cleared.
  void step() { optimizer_.step(); }

  /// The tensors by name.
  /// Aliasing  copies
  TensorMap tensors() const;

  /// tensors() and the optimizer's state, whose names differ.
  /// Aliasing  copies
  TensorMap state() const;
  /// Errors    UsageError: a tensor is missing, belongs to neither, or has a different shape or dtype
  void load_state(const TensorMap& state);

 private:
  ModelSpec model_;
  Parameters parameters_;
  Optimizer optimizer_;
};

}  // namespace lab::optc
