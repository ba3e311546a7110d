#pragma once

#include "a9_collectives/transformer.h"

namespace lab::a9 {

/// The block on one sequence, written as loops over plain numbers: no tensor operation, no autograd.
/// Shapes    sequence and result [S, D], float64
at::Tensor block_by_loops(const TransformerOptions& options, const TensorMap& weights, const at::Tensor& sequence);

}  // namespace lab::a9
