#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model/model.h"

namespace torch::optim {
class Optimizer;
}

namespace lab::optc {

struct OptimizerOptions {
  std::string kind = "sgd";  ///< or "adam"
  double learning_rate = 0.01;
  double momentum = 0.9;  ///< sgd only
};

/// Layers, whole ones or shards, with LibTorch's SGD or Adam that makes them learn: what every strategy trains and keeps.
class Learner {
 public:
  /// Errors    UsageError: an unknown kind; a learning rate or momentum that is negative or not finite
  Learner(ModelSpec model, Parameters first, const OptimizerOptions& options);
  ~Learner();
  Learner(Learner&&) noexcept;

  const ModelSpec& model() const { return model_; }

  /// The current tensors: leaves that step() and load_state() change in place.
  const Parameters& parameters() const { return parameters_; }

  /// One update with the parameters' gradients, which are cleared (undefined). A tensor without one is unchanged.
  void step();

  /// The tensors by name, on the CPU.
  /// Aliasing  copies
  TensorMap tensors() const;

  /// tensors(), and "optimizer": the bytes that LibTorch writes. What it reads back is the same to the bit.
  TensorMap state() const;
  /// Errors    UsageError: a tensor is missing, or has a different shape or dtype
  void load_state(const TensorMap& state);

 private:
  ModelSpec model_;
  Parameters parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

}  // namespace lab::optc
