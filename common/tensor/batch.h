#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab {

struct Batch {
  at::Tensor inputs;   ///< [batch_size, input_dim] float32
  at::Tensor targets;  ///< [batch_size, output_dim] float32
};

/// Random data, the same on every rank: standard normal, inputs first, then targets, from one generator with this seed.
/// Errors    ContractError: a negative size
/// Example   create_batch(128, 64, 32): the handout's batch, bitwise
Batch create_batch(int64_t batch_size, int64_t input_dim, int64_t output_dim, uint64_t seed = 42);

}  // namespace lab
