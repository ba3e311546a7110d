#pragma once

#include <ATen/ATen.h>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/training/optimizer.h"

namespace lab::optc {

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
