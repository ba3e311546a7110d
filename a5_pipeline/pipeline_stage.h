#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "a5_pipeline/model.h"
#include "a5_pipeline/model/deferred_linear.h"

namespace lab::comm {
class Endpoint;
}  // namespace lab::comm

namespace lab::a5 {

/// Q5. The layers of one stage: consecutive, split as evenly as possible; if the number does not divide, the first
/// stages get one more. All stages together have each layer once, in order.
/// Call      local
/// Example   distribute_layers(10, 1, 4): {3, 4, 5}; of 10 layers, 4 stages get 3 3 2 2
std::vector<std::int64_t> distribute_layers(std::int64_t number_of_layers, int pp_rank, int pp_size);

/// Where a stage's computations are traced; by default nowhere.
struct StageTrace {
  comm::Endpoint* endpoint = nullptr;
  std::string suffix;  ///< appended to "F3", to tell the stages of one rank apart
};

/// The part of the model that one stage has. Autograd ends at its borders: the input is a leaf, and the gradient of the
/// output comes from the next stage.
class PipelineStage {
 public:
  PipelineStage(const PipelineArguments& arguments, const std::vector<std::int64_t>& layer_indices,
                StageTrace trace = {});

  /// Call      local, differentiable
  /// Shapes    x and out [B, S, H]
  /// Errors    ContractError: x is undefined, or of another hidden size
  at::Tensor forward(const at::Tensor& x);

  /// Backpropagates one micro-batch through this stage: adds to the gradients of the weights and returns that of the
  /// input.
  /// Call      local, once for each forward pass
  /// Shapes    input [B, S, H]: what forward() was given, a leaf that requires a gradient; output: what it returned, or
  ///           a scalar loss made of it; output_grad: of the output's shape, or undefined for all ones
  /// Errors    ContractError: input requires no gradient or is undefined, output is undefined
  at::Tensor backward(const at::Tensor& input, const at::Tensor& output, const at::Tensor& output_grad);

  // The same with the backward pass split in two, for schedules that separate the halves: what the weights' gradients
  // need is kept in `deferred`, which belongs to this micro-batch and must not move until then.
  at::Tensor forward_deferring(const at::Tensor& x, std::vector<DeferredGradient>& deferred);
  at::Tensor backward_input(const at::Tensor& input, const at::Tensor& output, const at::Tensor& output_grad);
  void backward_weight(std::vector<DeferredGradient>& deferred);

  const Model& model() const { return model_; }

 private:
  /// Runs and traces it as the next micro-batch's computation of this kind.
  at::Tensor traced(char letter, const std::function<at::Tensor()>& computation);

  Model model_;
  StageTrace trace_;
  std::map<char, int> counts_;  ///< micro-batches so far, by kind: every schedule takes them in order
};

}  // namespace lab::a5
