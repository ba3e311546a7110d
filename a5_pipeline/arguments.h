#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace lab::a5 {

/// The activation between a layer's two products. ReLU is the handout's. Its derivative jumps at 0, so one rounding of
/// a sum near 0 visibly changes gradients; tanh has no such point, and saves as much for the backward pass.
enum class Activation { kTanh, kRelu };

/// The handout's arguments, with sizes that a CPU runs in a second. The handout's sizes: batch 16, micro-batch 2,
/// sequence 8192, hidden 4096, intermediate 14336, 12 layers, bfloat16.
struct PipelineArguments {
  std::int64_t global_batch_size = 16;
  std::int64_t micro_batch_size = 2;
  std::int64_t sequence_length = 32;
  std::int64_t hidden_size = 64;
  std::int64_t intermediate_size = 224;
  std::int64_t number_of_layers = 10;
  std::uint64_t seed = 1234;
  at::ScalarType dtype = at::kFloat;
  Activation activation = Activation::kTanh;
  at::Device device = at::kCPU;

  /// m, rounded down.
  std::int64_t number_of_micro_batches() const { return global_batch_size / micro_batch_size; }
  /// The shape of what travels between stages: a micro-batch of activations, or of their gradients.
  std::vector<std::int64_t> activation_shape() const { return {micro_batch_size, sequence_length, hidden_size}; }
  at::TensorOptions tensor_options() const { return at::TensorOptions(device).dtype(dtype); }
};

/// Q2. Checks that the arguments form a pipeline of `pp` stages: at least one layer for each stage, and whole
/// micro-batches, at least one. Layers need not divide evenly.
/// Call      local
/// Errors    UsageError if not: one message that names both numbers
/// Example   10 layers, pp 4, batch 16, micro-batch 2: returns. 3 layers, pp 4: throws. batch 16, micro-batch 3: throws
void check_arguments(const PipelineArguments& arguments, int pp);

}  // namespace lab::a5
