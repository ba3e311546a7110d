#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab::a4 {

/// The training step that every part of this assignment computes, each in its own way.
struct StepOptions {
  std::int64_t global_batch_size = 128;
  std::int64_t input_dim = 64;
  std::int64_t output_dim = 32;
  double learning_rate = 0.5;
  std::uint64_t seed = 42;  ///< for the weight, and again for the batch
  at::Device device = at::kCPU;
};

/// The weight [input_dim, output_dim] float32 that every rank starts from.
at::Tensor initial_weight(const StepOptions& options);

struct Batch {
  at::Tensor inputs;   ///< [global_batch_size, input_dim] float32
  at::Tensor targets;  ///< [global_batch_size, output_dim] float32
};

/// The batch that every rank draws: standard normal, inputs first, then targets, from one generator with the seed.
/// Errors    ContractError: a negative size
/// Example   create_batch({}): the handout's batch, bitwise
Batch create_batch(const StepOptions& options);

/// A linear layer without bias: out = X @ W. Gradients flow to W.
class CustomLinearLayer {
 public:
  /// Keeps a copy of the weight [in, out]: the caller's tensor is never updated.
  explicit CustomLinearLayer(const at::Tensor& weight);

  /// Shapes    X [batch, in], out [batch, out]
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor W;  ///< [in, out], requires grad
};

}  // namespace lab::a4
