#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/api/tensor_map.h"

// Shapes: B micro-batch size, S sequence, H hidden size, I intermediate size. A weight is [out, in], as in
// nn.Linear.
namespace lab::a5 {

/// fc2(activation(fc1(x))): no bias, no residual, no norm.
struct Layer {
  std::int64_t index = 0;  ///< in the whole model
  at::Tensor fc1;          ///< [I, H], requires grad
  at::Tensor fc2;          ///< [H, I], requires grad
};

/// The weights of one layer, drawn from its own seed: a stage makes its layers without the others. Their scale keeps
/// activations and gradients as large after many layers as before them, so that a comparison at the end is
/// meaningful: variance 1 / I for fc2, and for fc1 2 / H with ReLU, which halves the mean square, or 1.5 / H with tanh,
/// whose outputs approach a root mean square of 0.44 from above and below. The same values in every dtype, up to
/// rounding.
/// Source    He et al., arXiv:1502.01852, section 2.2
Layer make_layer(const PipelineArguments& arguments, std::int64_t index);

/// Some of the model's layers, applied in order.
class Model {
 public:
  /// Makes the layers with these indices, in this order. Calls layer_done, if given, after each layer made and after
  /// each forward and backward pass of a layer, to report progress.
  /// Errors    ContractError: an index outside [0, number_of_layers)
  Model(const PipelineArguments& arguments, const std::vector<std::int64_t>& layer_indices,
        std::function<void()> layer_done = {});

  /// Call      local, differentiable
  /// Shapes    x and out [B, S, H]
  at::Tensor forward(at::Tensor x) const;

  /// The same with another linear(x, weight).
  using Linear = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight)>;
  at::Tensor forward_with(const Linear& make_linear, at::Tensor x) const;

  const std::vector<Layer>& layers() const { return layers_; }

  /// By "layer<index>.fc1" and "layer<index>.fc2"; shared.
  TensorMap weights() const;

  /// The gradient of each weight, by the same names; undefined if there is none yet.
  /// Aliasing  shares the weights' own gradients
  TensorMap gradients() const;

 private:
  Activation activation_;
  std::function<void()> layer_done_;
  std::vector<Layer> layers_;
};

/// The indices of all layers.
std::vector<std::int64_t> all_layers(const PipelineArguments& arguments);

}  // namespace lab::a5
