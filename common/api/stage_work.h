#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "common/api/errors.h"

namespace lab::pipeline {

/// The computations of a pipeline's stages on one rank: stage s = chunk * p + rank. The work keeps what it needs
/// between a micro-batch's forward and backward pass; its caller keeps only what is sent, until it has arrived.
class StageWork {
 public:
  virtual ~StageWork() = default;

  /// Returns the stage's output. The input is what the stage before returned, or undefined on the first stage.
  virtual at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) = 0;

  /// Both gradients; returns that of the stage's input. output_grad is undefined on the last stage.
  virtual at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) = 0;

  /// The same in two steps, for schedules that split them.
  /// Errors    ContractError, unless overridden: these stages have whole backward passes
  virtual at::Tensor backward_input(int, int, const at::Tensor&) {
    throw ContractError("expected a schedule with whole backward passes, got one that takes them apart");
  }
  virtual void backward_weight(int chunk, int micro_batch) { backward_input(chunk, micro_batch, {}); }
};

/// An empty tensor to receive into: of the shape and options of what `stage` gets as its input for the micro-batch. The
/// gradient that a stage receives is that of the next stage's input.
using Buffers = std::function<at::Tensor(int stage, int micro_batch)>;

}  // namespace lab::pipeline
