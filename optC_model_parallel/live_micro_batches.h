#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <map>

namespace lab::optc {

/// A stage's computation: its layers, and on the last stage also the micro-batch's part of the loss. Differentiable in
/// its input and in the stage's parameters. Deterministic: the same input gives the same bits. The first stage's
/// function loads its images itself: its input is empty, and gets no gradient.
using StageFunction = std::function<at::Tensor(const at::Tensor& input)>;

/// The micro-batches of one stage whose backward pass is still to come. Autograd ends at the stage's borders: the input
/// is a leaf here, and the gradient of the output comes from the next stage.
class LiveMicroBatches {
 public:
  explicit LiveMicroBatches(bool recompute) : recompute_(recompute) {}

  /// optC.stage (optC.recompute if enabled). Computes the stage's output and keeps what backward() will need: with
  /// `recompute` only the input and the function, no activations.
  /// Call      local
  /// Aliasing  the output is detached; the input may be made a leaf that requires a gradient
  /// Errors    ContractError: the micro-batch is already live (checked before your code)
  at::Tensor forward(int micro_batch, const at::Tensor& input, const StageFunction& function);

  /// The micro-batch's backward pass through the stage: accumulates the parameters' gradients, returns the gradient of
  /// the input, and drops the micro-batch.
  /// Shapes    output_grad like the output, or undefined on the last stage, whose output is a scalar loss; out like
  ///           the input, or undefined on the first stage
  /// Errors    ContractError: the micro-batch is not live (checked before your code)
  at::Tensor backward(int micro_batch, const at::Tensor& output_grad);

  std::size_t size() const { return live_.size(); }

 private:
  struct Live {
    at::Tensor input;
    at::Tensor output;       ///< undefined with recompute
    StageFunction function;  ///< empty without recompute
  };

  bool recompute_;
  std::map<int, Live> live_;
};

}  // namespace lab::optc
